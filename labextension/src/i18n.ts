/**
 * The texts of the user interface, in English and Simplified Chinese.
 *
 * A bundled dictionary, chosen by JupyterLab's language code, works without a language pack. Sentences
 * that come from the kernel (notes, reasons, log lines) are shown as they came.
 */

const english = {
  title: 'Hardware receipts',
  open: 'Show Hardware Receipts',
  noNotebook: 'Open a notebook to see what its cells do on the hardware.',

  kernelNone: 'This notebook has no kernel.',
  kernelAsking: 'Asking the kernel…',
  kernelOther: 'This kernel does not run Python, so its cells have no receipts.',
  kernelAbsent: 'The extension is not loaded in this kernel. Run this line in a cell:',
  kernelRestarted:
    'The kernel was restarted, and the extension is not loaded. Run this line in a cell:',
  kernelSilent: 'The kernel does not answer, so nothing is known about its cells yet.',
  kernelDead: 'The kernel has stopped. Restart it from the Kernel menu.',
  askAgain: 'Ask again',
  copy: 'Copy',
  copied: 'Copied',

  device: 'Device',
  askedFor: 'asked for {device}',
  anyDevice: 'left to the framework',
  available: 'Available: {devices}',
  availableUnknown: 'Available devices are not known.',
  tracing: 'Tracing',
  tracingOn: 'on',
  tracingOff: 'off',

  running: 'Running',
  cell: 'Cell',
  records: 'Records',
  noRecords: 'No records yet. Run a cell, and what the hardware did appears here.',
  noRecordsTracingOff: 'No records. Tracing is off: turn it on with %mlc_trace on.',
  fromSaved: 'From the saved notebook',
  older: 'Older records not shown: {count}',
  scale: 'Full bar: {time}',
  goToCell: 'Go to the cell',
  cellGone: 'This cell is no longer in the notebook.',
  cellUnknown: 'This record does not say which cell it belongs to.',
  details: 'Details',
  showDetails: 'Show details',
  hideDetails: 'Hide details',

  ok: 'finished',
  error: 'error',
  interrupted: 'interrupted',
  loaded: 'loaded from a file',
  replayed: 'replayed',
  profiled: 'profiled, so not a timing run',
  finishedIn: '{cell} {outcome} after {time}',

  wall_time: 'Wall time',
  cpu_time: 'CPU time',
  device_time: 'Device time',
  peak_memory_process: 'Peak memory, process',
  peak_memory_allocator: 'Peak memory, allocator',
  peak_memory_device: 'Peak memory, device',
  energy: 'Energy',
  peak: 'peak memory {memory}',
  notMeasured: 'not measured',
  notMeasuredBecause: 'not measured: {why}',

  ranOn: 'ran on {devices}',
  ranNowhere: 'no operations on a device',
  deviceUnknown: 'device not known',
  askedButRan: 'asked for {device}, {place}',

  quantity: 'Quantity',
  value: 'Value, scope and source',
  samples: 'Samples',
  readings: 'Readings',
  cellScope: 'cell',
  processScope: 'process',
  deviceScope: 'device',
  machineScope: 'machine',
  operations: 'Operations',
  share: 'Share of operations',
  devices: 'Devices it ran on',
  started: 'Started',
  notebook: 'Notebook',
  versions: 'Versions',
  cut: 'Left out to keep the notebook small: {parts}',

  newerRecord:
    'This receipt was made by a newer jupyter_mlgpu. Update with: pip install --upgrade jupyter_mlgpu',
  invalidRecord: 'This receipt cannot be read: its data is not a jupyter_mlgpu record.'
};

export type Message = keyof typeof english;

const chinese: Record<Message, string> = {
  title: '硬件回执',
  open: '显示硬件回执',
  noNotebook: '打开一个笔记本，即可查看其单元格在硬件上做了什么。',

  kernelNone: '此笔记本没有内核。',
  kernelAsking: '正在询问内核…',
  kernelOther: '此内核不运行 Python，因此其单元格没有回执。',
  kernelAbsent: '此内核尚未加载扩展。请在单元格中运行这一行：',
  kernelRestarted: '内核已重启，扩展尚未加载。请在单元格中运行这一行：',
  kernelSilent: '内核没有回应，因此尚不清楚其单元格的情况。',
  kernelDead: '内核已停止。请从“内核”菜单重启。',
  askAgain: '再次询问',
  copy: '复制',
  copied: '已复制',

  device: '设备',
  askedFor: '指定 {device}',
  anyDevice: '由框架决定',
  available: '可用：{devices}',
  availableUnknown: '尚不清楚有哪些可用设备。',
  tracing: '跟踪',
  tracingOn: '开启',
  tracingOff: '关闭',

  running: '正在运行',
  cell: '单元格',
  records: '记录',
  noRecords: '还没有记录。运行一个单元格，硬件所做的事就会显示在这里。',
  noRecordsTracingOff: '没有记录。跟踪已关闭：用 %mlc_trace on 开启。',
  fromSaved: '来自已保存的笔记本',
  older: '未显示的更早记录：{count}',
  scale: '满格：{time}',
  goToCell: '转到该单元格',
  cellGone: '该单元格已不在笔记本中。',
  cellUnknown: '此记录没有注明属于哪个单元格。',
  details: '详情',
  showDetails: '显示详情',
  hideDetails: '隐藏详情',

  ok: '完成',
  error: '出错',
  interrupted: '已中断',
  loaded: '从文件载入',
  replayed: '回放',
  profiled: '剖析运行，不作计时',
  finishedIn: '{cell} {outcome}，用时 {time}',

  wall_time: '实际用时',
  cpu_time: 'CPU 时间',
  device_time: '设备时间',
  peak_memory_process: '峰值内存（进程）',
  peak_memory_allocator: '峰值内存（分配器）',
  peak_memory_device: '峰值内存（设备）',
  energy: '能耗',
  peak: '峰值内存 {memory}',
  notMeasured: '未测量',
  notMeasuredBecause: '未测量：{why}',

  ranOn: '运行于 {devices}',
  ranNowhere: '没有在设备上的运算',
  deviceUnknown: '设备未知',
  askedButRan: '指定 {device}，{place}',

  quantity: '量',
  value: '数值、范围与来源',
  samples: '采样数',
  readings: '读数',
  cellScope: '单元格',
  processScope: '进程',
  deviceScope: '设备',
  machineScope: '整机',
  operations: '运算数',
  share: '运算占比',
  devices: '实际运行的设备',
  started: '开始于',
  notebook: '笔记本',
  versions: '版本',
  cut: '为控制笔记本大小而略去：{parts}',

  newerRecord: '此回执由更新版本的 jupyter_mlgpu 生成。请更新：pip install --upgrade jupyter_mlgpu',
  invalidRecord: '无法读取此回执：其数据不是 jupyter_mlgpu 记录。'
};

/** Gives a message in the user's language, with `{names}` replaced by values. */
export type Translate = (message: Message, values?: Readonly<Record<string, string>>) => string;

/** The texts for a language code such as `en`, `zh_CN` or `zh-Hans`. */
export function translateTo(languageCode: string): Translate {
  const texts = /^zh\b|^zh_/i.test(languageCode) ? chinese : english;
  return (message, values = {}) =>
    texts[message].replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** Whether a name that came from outside is one of our messages, as quantities are. */
export function isMessage(name: string): name is Message {
  return Object.hasOwn(english, name);
}
