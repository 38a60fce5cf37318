/** Texts for the page of one record, in both languages. */

export const english = {
  backToCells: 'Back to the cells',
  pageLoading: 'Opening…',
  pageFailed:
    'This page could not be loaded. Check the connection to the server and open it again.',

  copyRecord: 'Copy as text',
  copyFailed: 'The browser did not allow copying.',
  saveRecord: 'Save the record',
  saveTrace: 'Save the timeline',
  openInPerfetto: 'Open in Perfetto',
  savedAs: 'Saved as {name}.',
  saveFailed: 'Nothing was saved: {why}',
  recordGone: 'neither the kernel nor the notebook holds the record any longer.',
  perfettoNote:
    'Perfetto is a page at ui.perfetto.dev. It opens in a new tab, which gets the timeline from this one, inside your browser: it is not uploaded.',
  perfettoOpening: 'Waiting for Perfetto’s page…',
  perfettoTaken: 'Perfetto’s page has the timeline.',
  perfettoBlocked: 'The browser did not allow a new tab. Save the timeline, and open it there.',
  perfettoSilent:
    'Perfetto’s page did not take the timeline. Save it, and open it at ui.perfetto.dev.',
  perfettoFailed: 'There is no timeline to hand over: {why}',

  whereItRan: 'Where it ran',
  opsSection: 'Operations',
  opsProfiled:
    'Measured with the profiler on, which makes the cell slower: compare the operations with each other, and take no time for a timing.',
  opsFilter: 'Find operations',
  opsNone: 'No operation has this name.',
  opsShown: '{shown} of {count}',
  opsType: 'Type',
  opsBytes: 'Copied',
  opsFlops: 'FLOP',

  timelineSection: 'Timeline',
  timelineAsking: 'Asking the kernel…',
  timelineFailed: 'The kernel did not answer: {why}',
  timeline_light:
    'No profile of this cell was taken. Put %%mlc_trace --ops as its first line and run it once more.',
  timeline_none:
    'The profiler saw no operation in this cell. If it could not be taken, the notes say why.',
  timeline_gone:
    'The events of this cell are no longer in the kernel’s memory, which holds those of the newest profiled cells. Run it once more to see them.',
  timeline_saved:
    'A timeline is not saved with the notebook: run the cell once more with %%mlc_trace --ops to see it.',
  timelineLabel: 'Timeline of {count} events',
  timelineKeys:
    'Arrow keys left and right move, plus and minus zoom, Home shows the whole cell. With the mouse: drag to move, Ctrl and the wheel to zoom, click an event to read it.',
  timelineView: '{from} to {to} of the cell',
  timelineFirst:
    'The first {shown} of {count} events are shown, up to {time}. Export has all: %mlc_trace export.',
  timelineLeftOut: 'Not kept: {count} events ({why}).',
  timelineTooDeep: 'Events that lie too deep inside others to be drawn: {count}.',
  timelineZoomIn: 'Zoom in',
  timelineZoomOut: 'Zoom out',
  timelineLeft: 'Move left',
  timelineRight: 'Move right',
  timelineWhole: 'Whole cell',
  noEventChosen: 'Click an event, or choose one in the table below, to read it here.',
  eventChosen: '{name} on {place}: starts at {start}, takes {time}.',
  hostThread: 'host, {line}',
  eventsInView: 'Events in view: {count}',
  eventsListed: 'The table lists the first {count}. Zoom in to see others.',
  eventColumn: 'Event',
  eventPlace: 'Place',
  eventStart: 'Start',
  eventTakes: 'Takes',

  memorySection: 'Memory while it ran',
  memoryNote:
    'Looked at every {interval}, so a short peak in between is missed; peak memory is under “How this was measured”.',
  memory_short: 'The cell was too short for a curve: memory is looked at every half second.',
  memory_unwatched:
    'Nobody looked: memory is followed only while a sidebar shows the live counters.',
  memory_gone: 'What was seen of its memory is no longer kept.',
  memory_saved: 'What was seen of its memory is not saved with the notebook.',
  memoryLabel: 'Memory, {device}: {least} to {most}',
  memoryOf: 'Memory, {device}',
  memoryRange: '{least} to {most}',
  memoryTable: 'Figures',
  afterStart: 'After',

  howMeasured: 'How this was measured',
  notMeasuredSection: 'What could not be measured',
  insideElse: 'The cell and its surroundings'
};

export const chinese: Record<keyof typeof english, string> = {
  backToCells: '返回单元格列表',
  pageLoading: '正在打开…',
  pageFailed: '无法加载此页面。请检查与服务器的连接，然后重新打开。',

  copyRecord: '复制为文本',
  copyFailed: '浏览器不允许复制。',
  saveRecord: '保存记录',
  saveTrace: '保存时间线',
  openInPerfetto: '在 Perfetto 中打开',
  savedAs: '已保存为 {name}。',
  saveFailed: '未能保存：{why}',
  recordGone: '内核和笔记本中都已没有这条记录。',
  perfettoNote:
    'Perfetto 是 ui.perfetto.dev 上的网页。它会在新标签页中打开，时间线由本页在浏览器内部交给它，不会上传。',
  perfettoOpening: '正在等待 Perfetto 页面…',
  perfettoTaken: 'Perfetto 页面已收到时间线。',
  perfettoBlocked: '浏览器不允许打开新标签页。请先保存时间线，再在那里打开。',
  perfettoSilent: 'Perfetto 页面没有接收时间线。请先保存，再在 ui.perfetto.dev 打开。',
  perfettoFailed: '没有可以交出的时间线：{why}',

  whereItRan: '运行位置',
  opsSection: '操作',
  opsProfiled:
    '这些时间是在性能分析器打开时测得的，它会使单元格变慢：可以在操作之间比较，但不能当作计时。',
  opsFilter: '查找操作',
  opsNone: '没有这个名称的操作。',
  opsShown: '{shown} / {count}',
  opsType: '类型',
  opsBytes: '复制量',
  opsFlops: 'FLOP',

  timelineSection: '时间线',
  timelineAsking: '正在询问内核…',
  timelineFailed: '内核没有回答：{why}',
  timeline_light: '没有对此单元格做性能分析。请把 %%mlc_trace --ops 作为第一行，再运行一次。',
  timeline_none: '性能分析器在此单元格中没有看到任何操作。如果无法分析，备注中会说明原因。',
  timeline_gone:
    '此单元格的事件已不在内核的内存中，内存里只保留最近分析过的单元格的事件。请再运行一次。',
  timeline_saved: '时间线不随笔记本保存：请用 %%mlc_trace --ops 再运行一次该单元格。',
  timelineLabel: '时间线，共 {count} 个事件',
  timelineKeys:
    '左右方向键移动，加号和减号缩放，Home 键显示整个单元格。鼠标：拖动可移动，按住 Ctrl 滚动滚轮可缩放，点击事件可查看说明。',
  timelineView: '单元格的 {from} 至 {to}',
  timelineFirst:
    '显示了 {count} 个事件中的前 {shown} 个，直到 {time}。全部事件可用 %mlc_trace export 导出。',
  timelineLeftOut: '未保留的事件：{count} 个（{why}）。',
  timelineTooDeep: '嵌套太深而未画出的事件：{count} 个。',
  timelineZoomIn: '放大',
  timelineZoomOut: '缩小',
  timelineLeft: '左移',
  timelineRight: '右移',
  timelineWhole: '整个单元格',
  noEventChosen: '点击一个事件，或在下面的表格中选择一个，即可在此查看。',
  eventChosen: '{place} 上的 {name}：开始于 {start}，用时 {time}。',
  hostThread: '主机，{line}',
  eventsInView: '可见的事件：{count}',
  eventsListed: '表格列出前 {count} 个。放大可查看其他事件。',
  eventColumn: '事件',
  eventPlace: '位置',
  eventStart: '开始',
  eventTakes: '用时',

  memorySection: '运行期间的内存',
  memoryNote: '每 {interval} 查看一次，两次之间的短暂峰值会漏掉；峰值内存见“测量方法”。',
  memory_short: '单元格太短，无法画出曲线：内存每半秒查看一次。',
  memory_unwatched: '没有人查看：只有侧边栏显示实时计数器时，才会跟踪内存。',
  memory_gone: '它的内存数据已不再保留。',
  memory_saved: '它的内存数据不随笔记本保存。',
  memoryLabel: '内存，{device}：{least} 至 {most}',
  memoryOf: '内存，{device}',
  memoryRange: '{least} 至 {most}',
  memoryTable: '数值',
  afterStart: '开始后',

  howMeasured: '测量方法',
  notMeasuredSection: '未能测量的内容',
  insideElse: '单元格及其环境'
};
