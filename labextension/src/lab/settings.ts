/**
 * From JupyterLab's settings to our preferences; the Settings editor shows them in JupyterLab's language.
 */

import type { ISettingRegistry } from '@jupyterlab/settingregistry';

import type { Translate } from '../language/i18n';
import { preferences, readPreferences } from '../sidebar/preferences';
import { object } from '../language/untrusted';

/** The plug-in's id, and that of its settings. */
export const PLUGIN = 'jupyter-mlgpu:sidebar';

/** Follow the settings from now on. Where they cannot be read, the defaults stay. */
export async function followSettings(registry: ISettingRegistry, t: Translate): Promise<void> {
  registry.transform(PLUGIN, {
    fetch: plugin => {
      translateSchema(plugin.schema, t);
      return plugin;
    }
  });
  try {
    const settings = await registry.load(PLUGIN);
    const read = (): void => preferences.set(readPreferences(settings.composite));
    settings.changed.connect(read);
    read();
  } catch (error) {
    console.warn('jupyter_mlgpu goes on with the defaults of its settings:', error);
  }
}

/** Put what a schema says, of itself and of each setting, into the user's language. */
function translateSchema(schema: unknown, t: Translate): void {
  const table = object(schema) ?? {};
  for (const name of ['title', 'description']) {
    const said = table[name];
    if (typeof said === 'string') {
      table[name] = t.say(said);
    }
  }
  const choices: unknown[] = Array.isArray(table.oneOf) ? table.oneOf : [];
  const parts = [...Object.values(object(table.properties) ?? {}), ...choices];
  parts.forEach(part => translateSchema(part, t));
}
