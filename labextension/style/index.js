import './base.css';
import './now.css';
import './cells.css';
import './inside.css';
import './logs.css';
import './plan.css';
