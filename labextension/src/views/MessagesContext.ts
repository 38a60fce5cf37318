/** Gives the views the catalogue of log messages in the user's language; null: as the records say it. */

import { createContext } from 'react';

import type { Messages } from '../explain';

export const MessagesContext = createContext<Messages | null>(null);
