/** Texts for commands and settings, in both languages. */

export const english = {
  menu: 'Hardware',
  command_open: 'Show Hardware Receipts',
  command_open_about: 'Open the sidebar with what the hardware did in each cell.',
  command_now: 'Show What the Kernel Does Now',
  command_now_about: 'Open the sidebar on the device, the running cell and the live gauges.',
  command_record: 'Show the Record of This Cell',
  command_record_about: 'Open the sidebar on what was measured in the last run of the active cell.',
  command_device: 'Choose a Device…',
  command_device_about: 'Choose the device on which the next cells of this notebook run.',
  command_trace: 'Trace Cells',
  command_trace_about:
    'Measure each cell of this notebook, or no more. Where the extension is not loaded yet, this loads it.',
  command_traceWhenOpened: 'Trace This Notebook When It Opens',
  command_traceWhenOpened_about:
    'Write into this notebook that %load_ext jupyter_mlgpu is run whenever a kernel starts for it, or take that back. It is done only in notebooks that you trust.',
  command_save: 'Save Records…',
  command_save_about: 'Save the records of this kernel in a file on the kernel’s machine.',
  command_restart: 'Restart the Kernel and Run All Cells Up to Here…',
  command_restart_about:
    'Restart the kernel of this notebook after a question, and run its cells again up to the active one.',

  cellWithoutRecord: 'This cell has no record: load the extension, then run the cell.',
  saveTitle: 'Save the records of this kernel',
  saveLabel: 'File, seen from the kernel’s folder; a file of that name is replaced',
  saveOk: 'Save',
  chooseTitle: 'Device for the next cells of {notebook}',
  chooseLabel: 'What was made on another device stays there.',
  chooseOk: 'Choose',
  firstDevice: 'any (the first GPU, else the CPU)',

  markedToTrace:
    'From now on %load_ext jupyter_mlgpu is run whenever a kernel starts for this notebook, if the notebook is trusted. Save the notebook to keep that: it stands in its metadata.',
  notMarkedToTrace:
    'This notebook no longer asks to be traced when it opens. Save the notebook to keep that. The present kernel goes on as it is.',
  notTrustedToTrace:
    'This notebook asks to be traced when it opens. It is not trusted, so nothing was run. If you know where it comes from, trust it and restart its kernel, or run %load_ext jupyter_mlgpu in a cell.',
  notLoaded: 'The kernel could not load jupyter_mlgpu, so its cells are not traced. {why}',

  deviceButton: 'Device: {device}. Show what the kernel does now.',
  summaryName: 'Hardware: {device}',
  summaryAnyDevice: 'any device',
  summaryRunning: 'running',
  summaryIdle: 'idle',
  summaryTracingOff: 'tracing off',
  summaryNoKernel: 'no kernel',
  summaryAsking: 'asking…',
  summaryNotPython: 'not Python',
  summaryNotLoaded: 'not traced',
  summarySilent: 'no answer',
  summaryDead: 'kernel stopped',

  gaugesOff: 'Live gauges are turned off in the settings, under “Hardware receipts”.',

  settingsAbout:
    'The sidebar with what the hardware did, and the receipts under cells. Each setting takes effect at once.',
  setting_position: 'Position of the sidebar',
  setting_position_about:
    'The side of the page. A position chosen with JupyterLab’s own “Switch Sidebar Side” goes before it.',
  setting_position_right: 'Right',
  setting_position_left: 'Left',
  setting_liveGauges: 'Live gauges',
  setting_liveGauges_about:
    'Ask the kernel for the use of processors, memory and power twice a second while the gauges are in sight. Off: it is not asked, and nothing is looked at for them.',
  setting_redrawSeconds: 'Seconds between two drawings of the gauges',
  setting_redrawSeconds_about:
    'At least so many seconds pass between two drawings, up to 60; 0 draws each reading. Readings are taken twice a second all the same, and none is left out of the curves.',
  setting_receipt: 'Receipts under cells',
  setting_receipt_about:
    'How a receipt is shown at first. Not shown: it stays in the notebook’s file and in the sidebar. To make no receipts, turn tracing off.',
  setting_receipt_line: 'One line, which opens',
  setting_receipt_open: 'All that was measured',
  setting_receipt_hidden: 'Not shown',
  setting_language: 'Language',
  setting_language_about:
    'The language of the sidebar, the receipts and the commands. The Settings editor keeps to JupyterLab’s.',
  setting_language_jupyterlab: 'As JupyterLab',
  setting_language_en: 'English',
  setting_language_zh_CN: '简体中文'
};

export const chinese: Record<keyof typeof english, string> = {
  menu: '硬件',
  command_open: '显示硬件回执',
  command_open_about: '打开侧边栏，查看硬件在每个单元格中做了什么。',
  command_now: '显示内核当前状态',
  command_now_about: '打开侧边栏，查看设备、正在运行的单元格和实时读数。',
  command_record: '显示此单元格的记录',
  command_record_about: '打开侧边栏，查看活动单元格最近一次运行的测量结果。',
  command_device: '选择设备…',
  command_device_about: '选择此笔记本后续单元格运行的设备。',
  command_trace: '跟踪单元格',
  command_trace_about: '开始或停止测量此笔记本的每个单元格。如果扩展尚未加载，则加载它。',
  command_traceWhenOpened: '打开时跟踪此笔记本',
  command_traceWhenOpened_about:
    '在此笔记本中写明：每次为它启动内核时都运行 %load_ext jupyter_mlgpu；再次选择则取消。仅对您信任的笔记本执行。',
  command_save: '保存记录…',
  command_save_about: '将此内核的记录保存到内核所在机器上的文件中。',
  command_restart: '重启内核并运行到此处的所有单元格…',
  command_restart_about: '确认后重启此笔记本的内核，并重新运行到活动单元格为止的单元格。',

  cellWithoutRecord: '此单元格没有记录：请先加载扩展，然后运行该单元格。',
  saveTitle: '保存此内核的记录',
  saveLabel: '文件（相对于内核的文件夹）；同名文件将被替换',
  saveOk: '保存',
  chooseTitle: '{notebook} 后续单元格的设备',
  chooseLabel: '已在其他设备上创建的内容会留在那里。',
  chooseOk: '选择',
  firstDevice: 'any（第一个 GPU，否则 CPU）',

  markedToTrace:
    '从现在起，每次为此笔记本启动内核时，只要该笔记本受信任，就会运行 %load_ext jupyter_mlgpu。此设置写在笔记本的元数据中，请保存笔记本以保留它。',
  notMarkedToTrace: '此笔记本打开时不再要求跟踪。请保存笔记本以保留此设置。当前内核保持不变。',
  notTrustedToTrace:
    '此笔记本要求在打开时进行跟踪。它不受信任，因此没有运行任何内容。如果您知道它的来源，请信任它并重启内核，或在单元格中运行 %load_ext jupyter_mlgpu。',
  notLoaded: '内核无法加载 jupyter_mlgpu，因此其单元格未被跟踪。{why}',

  deviceButton: '设备：{device}。显示内核当前状态。',
  summaryName: '硬件：{device}',
  summaryAnyDevice: '任意设备',
  summaryRunning: '运行中',
  summaryIdle: '空闲',
  summaryTracingOff: '跟踪已关闭',
  summaryNoKernel: '没有内核',
  summaryAsking: '正在询问…',
  summaryNotPython: '不是 Python',
  summaryNotLoaded: '未跟踪',
  summarySilent: '没有回应',
  summaryDead: '内核已停止',

  gaugesOff: '实时读数已在设置的“硬件回执”中关闭。',

  settingsAbout: '显示硬件工作的侧边栏，以及单元格下方的回执。每项设置立即生效。',
  setting_position: '侧边栏的位置',
  setting_position_about: '位于页面的哪一侧。用 JupyterLab 自己的“切换侧边栏位置”选择的位置优先。',
  setting_position_right: '右侧',
  setting_position_left: '左侧',
  setting_liveGauges: '实时读数',
  setting_liveGauges_about:
    '读数可见时，每秒两次向内核询问处理器、内存和功率的使用情况。关闭后不再询问，也不会为此读取任何数据。',
  setting_redrawSeconds: '两次绘制读数之间的秒数',
  setting_redrawSeconds_about:
    '两次绘制之间至少间隔的秒数，最多 60；0 表示每次读数都绘制。读数仍然每秒进行两次，曲线中不会缺少任何读数。',
  setting_receipt: '单元格下方的回执',
  setting_receipt_about:
    '回执最初的显示方式。不显示时，它仍保留在笔记本文件和侧边栏中。如不想生成回执，请关闭跟踪。',
  setting_receipt_line: '一行，可展开',
  setting_receipt_open: '全部测量结果',
  setting_receipt_hidden: '不显示',
  setting_language: '语言',
  setting_language_about: '侧边栏、回执和命令的语言。设置编辑器使用 JupyterLab 的语言。',
  setting_language_jupyterlab: '与 JupyterLab 相同',
  setting_language_en: 'English',
  setting_language_zh_CN: '简体中文'
};
