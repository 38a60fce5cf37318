/** Texts for what the kernel does now, in both languages. */

export const english = {
  now: 'Now',

  chooseDevice: 'Device for the next cells',
  bestDevice: 'any: the first GPU, else the CPU',
  applies: '{device} from the end of the running cell on',
  traceCells: 'Trace cells',
  traceApplies: 'takes effect at the end of the running cell',
  restartActive: 'Restart the kernel and run all cells up to the active one…',
  noActiveCell: 'Select a cell of the notebook first.',

  profilerOn: 'with the profiler on',
  runOf: 'run {number} of {of}',

  frameworks: 'Frameworks',
  noFramework: 'none imported yet',

  gauges: 'What the machine does now',
  machineGauges: 'This machine',
  processGauges: 'This kernel’s process',
  utilisation: 'Utilisation',
  memory: 'Memory',
  power: 'Power',
  temperature: 'Temperature',
  cores: '{count} cores',
  atMost: 'at most {limit}',
  noLimit: 'no limit known, chart up to {top}',
  noNumber: 'no number now',
  waitingForNumbers: 'Waiting for the first numbers…',
  numbersStay: 'No new numbers come. The kernel may be too busy to look.',
  resting: 'The counters rest.',
  lastSeconds: 'The last {time}',
  chartOf: '{quantity}, {device}: lowest {low}, highest {high}',
  asTable: 'As a table',
  timeOfDay: 'Time',

  doctor: 'Doctor',
  doctorUnasked:
    'Is everything here set up as it should be? The doctor looks, and changes nothing.',
  askDoctor: 'Ask the doctor',
  doctorAsking: 'The doctor is looking at this machine and this Python…',
  doctorKnows: 'How we know:',
  doctorAdvises: 'What to do:',
  doctorMore: '{count} more: run %mlc_doctor in a cell.',
  doctorDeep:
    'The frameworks and the network were not asked: %mlc_doctor --deep in a cell asks them.',

  notLive: 'Nothing is known of this kernel now.'
};

export const chinese: Record<keyof typeof english, string> = {
  now: '当前',

  chooseDevice: '后续单元格的设备',
  bestDevice: 'any：首个 GPU，没有则用 CPU',
  applies: '正在运行的单元格结束后改用 {device}',
  traceCells: '跟踪单元格',
  traceApplies: '正在运行的单元格结束后生效',
  restartActive: '重启内核并运行到当前单元格…',
  noActiveCell: '请先在笔记本中选中一个单元格。',

  profilerOn: '性能分析器已开启',
  runOf: '第 {number} 次，共 {of} 次',

  frameworks: '框架',
  noFramework: '尚未导入',

  gauges: '机器当前的状态',
  machineGauges: '本机',
  processGauges: '本内核进程',
  utilisation: '利用率',
  memory: '内存',
  power: '功率',
  temperature: '温度',
  cores: '{count} 核',
  atMost: '上限 {limit}',
  noLimit: '上限未知，图表最高 {top}',
  noNumber: '暂无数值',
  waitingForNumbers: '正在等待首批数值…',
  numbersStay: '没有新的数值。内核可能忙得无法读取。',
  resting: '计数器已暂停。',
  lastSeconds: '最近 {time}',
  chartOf: '{device} 的{quantity}：最低 {low}，最高 {high}',
  asTable: '以表格显示',
  timeOfDay: '时间',

  doctor: 'doctor（检查环境）',
  doctorUnasked: '这里的环境都配置好了吗？doctor 只查看，不做任何更改。',
  askDoctor: '询问 doctor',
  doctorAsking: 'doctor 正在查看这台机器和这个 Python…',
  doctorKnows: '依据：',
  doctorAdvises: '处理办法：',
  doctorMore: '还有 {count} 项：请在单元格中运行 %mlc_doctor。',
  doctorDeep: '没有询问框架和网络：在单元格中运行 %mlc_doctor --deep 就会询问。',

  notLive: '目前对此内核一无所知。'
};
