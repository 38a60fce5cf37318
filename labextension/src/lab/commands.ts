/** The commands of the sidebar. */

import type { JupyterFrontEnd } from '@jupyterlab/application';
import { InputDialog, showErrorMessage } from '@jupyterlab/apputils';
import type { Cell } from '@jupyterlab/cells';
import type { INotebookTracker } from '@jupyterlab/notebook';
import type { CommandRegistry } from '@lumino/commands';

import { chooseDevice } from './devicedialog';
import type { Message, Translate } from '../language/i18n';
import type { Language } from '../language/language';
import type { NotebookSession, Notebooks } from '../kernel/notebooks';
import { askLessons } from './lessons';
import { notify } from './notices';
import { icon, type Panel } from '../sidebar/panel';
import { hidePanel, showPanel } from '../sidebar/placing';
import type { Restarter } from './restarter';
import { sentence, whyOf } from '../language/sentence';
import { isTracing, shownEntries } from '../kernel/state';
import type { TracedNotebooks } from './tracing';
import { keep } from '../receipts/useOwnedState';
import { plain } from '../language/prose';

export const COMMANDS = {
  open: 'jupyter-mlgpu:open',
  now: 'jupyter-mlgpu:show-now',
  record: 'jupyter-mlgpu:show-record',
  device: 'jupyter-mlgpu:choose-device',
  trace: 'jupyter-mlgpu:trace',
  traceWhenOpened: 'jupyter-mlgpu:trace-when-opened',
  save: 'jupyter-mlgpu:save-records',
  lessons: 'jupyter-mlgpu:open-lessons',
  restart: 'jupyter-mlgpu:restart-and-run-to-here'
} as const;

/** The objects that commands act on. */
export interface IParts {
  app: JupyterFrontEnd;
  tracker: INotebookTracker;
  notebooks: Notebooks;
  panel: Panel;
  traced: TracedNotebooks;
  restarter: Restarter;
  language: Language;
}

/** Add all commands. Their labels follow the language. */
export function addCommands(parts: IParts): void {
  const { app, tracker, notebooks, panel, traced, language } = parts;
  const { commands } = app;
  const current = (): NotebookSession | null => notebooks.current;
  const live = (): boolean => current()?.model.state.kernel === 'live';
  const isTraced = (): boolean => {
    const session = current();
    return session !== null && isTracing(session.model.state);
  };
  const show = (): void => showPanel(app.shell, panel);
  const add: Add = (id, name, options): void => {
    commands.addCommand(id, {
      label: () => language.t(`command_${name}`),
      caption: () => language.t(`command_${name}_about`),
      usage: () => language.t(`command_${name}_about`),
      describedBy: { args: { type: 'object', properties: {} } },
      execute: () => undefined,
      ...options
    });
  };

  const showNow = (): void => {
    const session = current();
    if (session !== null) {
      keep(session, 'view', 'now');
    }
    show();
  };

  add(COMMANDS.open, 'open', {
    describedBy: { args: OPEN_ARGS },
    execute: ({ toggle }) => {
      if (toggle === true && panel.isVisible) {
        hidePanel(app.shell, panel);
        current()?.focus();
      } else {
        show();
      }
    }
  });
  add(COMMANDS.now, 'now', { execute: showNow });
  add(COMMANDS.record, 'record', {
    describedBy: { args: RECORD_ARGS },
    isEnabled: () => tracker.activeCell !== null,
    execute: ({ atPointer }) => {
      const cell = atPointer === true ? cellAtPointer(parts) : tracker.activeCell;
      const cellId = cell?.model.id;
      const session = current();
      const entry =
        session && shownEntries(session.model.state).findLast(one => one.cellId === cellId);
      if (!entry) {
        notify('info', language.t('cellWithoutRecord'));
        return;
      }
      keep(session, 'opened', entry.key);
      keep(session, 'view', 'cells');
      show();
    }
  });
  add(COMMANDS.device, 'device', {
    // Without the kernel's list of devices there is nothing to choose from.
    isEnabled: () => live() && (current()?.model.state.device?.pickers.length ?? 0) > 0,
    execute: async () => {
      const session = current();
      // The Now view reports the result: at once, at the end of the running cell, or an error.
      if (
        session &&
        (await attempt(chooseDevice(session, language.t), language.t, 'command_device'))
      ) {
        showNow();
      }
    }
  });
  add(COMMANDS.trace, 'trace', {
    isEnabled: () => traced.canTrace(),
    isToggleable: true,
    isToggled: () => isTraced(),
    execute: async () => {
      // The palette and menus have the keyboard focus, and drop it.
      current()?.focus();
      await attempt(traced.trace(!isTraced()), language.t, 'command_trace');
    }
  });
  add(COMMANDS.traceWhenOpened, 'traceWhenOpened', {
    isEnabled: () => tracker.currentWidget?.model != null,
    isToggleable: true,
    isToggled: () => current()?.traceMark.isSet === true,
    execute: () => traced.mark(current()?.traceMark.isSet !== true)
  });
  add(COMMANDS.save, 'save', {
    isEnabled: live,
    execute: async () => {
      const session = current();
      if (session !== null) {
        await saveRecords(session, language);
      }
    }
  });
  add(COMMANDS.lessons, 'lessons', {
    icon,
    // A launcher's card, which passes its folder, has room for a short label only.
    label: ({ cwd }) => language.t(cwd === undefined ? 'command_lessons' : 'lessonsCard'),
    execute: () => openLessons(parts)
  });
  addRestart(parts, add);

  const notifyChanged = (): void =>
    Object.values(COMMANDS).forEach(id => commands.notifyCommandChanged(id));
  language.changed.connect(notifyChanged);
  notebooks.currentChanged.connect(notifyChanged);
}

/** Return the cell whose context menu is open, which JupyterLab does not activate. */
function cellAtPointer({ app, tracker }: IParts): Cell | undefined {
  const node = app.contextMenuHitTest(one => one.classList.contains('jp-Cell'));
  return tracker.currentWidget?.content.widgets.find(cell => cell.node === node);
}

const OPEN_ARGS = {
  type: 'object',
  properties: {
    toggle: { type: 'boolean', description: 'Close the sidebar where it is open.' }
  }
};

const RECORD_ARGS = {
  type: 'object',
  properties: {
    atPointer: {
      type: 'boolean',
      description: 'The cell whose context menu is open, rather than the active one.'
    }
  }
};

type CommandName = keyof typeof COMMANDS;
type Add = (
  id: string,
  name: CommandName,
  options: Partial<CommandRegistry.ICommandOptions>
) => void;

/** Restart and run up to the active cell. */
function addRestart({ tracker, restarter, language }: IParts, add: Add): void {
  add(COMMANDS.restart, 'restart', {
    isEnabled: () =>
      tracker.activeCell !== null && restarter.obstacle(tracker.activeCell.node) === null,
    execute: async () => {
      const cell = tracker.activeCell;
      const failure = cell && (await restarter.restart(cell.node, null, () => undefined));
      if (failure) {
        const { t } = language;
        await showErrorMessage(t('command_restart'), t(failure.message, { why: failure.why }));
      }
    }
  });
}

/** Open the first lesson, copied first if necessary. Returns its widget, which replaces the launcher. */
async function openLessons({ app, language }: IParts): Promise<unknown> {
  const { commands, serviceManager } = app;
  const request = askLessons(language, serviceManager.serverSettings);
  const found = await attempt(request, language.t, 'command_lessons');
  if (found === null) {
    return null;
  }
  if (found.said !== null) {
    notify('success', language.t.say(found.said));
  }
  const { first } = found;
  const folder = first.split('/').slice(0, -1).join('/');
  // Notebook 7 has no file browser beside the notebook.
  if (commands.hasCommand('filebrowser:go-to-path')) {
    void commands.execute('filebrowser:go-to-path', { path: folder, dontShowBrowser: true });
  }
  return commands.execute('docmanager:open', { path: first });
}

/** Ask for a file name, and have the kernel save its records there. */
async function saveRecords(session: NotebookSession, { t }: Language): Promise<void> {
  const answer = await InputDialog.getText({
    title: t('saveTitle'),
    label: t('saveLabel'),
    text: `${session.name.replace(/\.ipynb$/, '')}.records.jsonl`,
    okLabel: t('saveOk'),
    cancelLabel: t('cancel')
  });
  const path = answer.value?.trim();
  if (!answer.button.accept || !path) {
    return;
  }
  const saved = await attempt(session.request('save', { path }), t, 'command_save');
  const done = sentence(saved?.said);
  if (done !== null) {
    notify('success', t.say(done));
  }
}

/** Return the result; if the promise rejects, show the reason in a dialog and return null. */
async function attempt<T>(what: Promise<T>, t: Translate, title: Message): Promise<T | null> {
  try {
    return await what;
  } catch (error) {
    await showErrorMessage(t(title), plain(t.say(whyOf(error))));
    return null;
  }
}
