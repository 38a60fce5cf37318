/** Copies JupyterLab's settings to our preferences, and translates the Settings editor. */

import type { ISettingRegistry } from '@jupyterlab/settingregistry';

import type { Translate } from '../language/i18n';
import { preferences, readPreferences } from '../sidebar/preferences';
import { object } from '../language/untrusted';

/** Id of the plug-in and of its settings. */
export const PLUGIN = 'jupyter-mlgpu:sidebar';

/** Follow the settings. If they cannot be read, the defaults stay. */
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

/** Translate the texts of a schema and of the settings in it. */
function translateSchema(schema: unknown, t: Translate): void {
  const table = object(schema) ?? {};
  for (const name of ['title', 'description']) {
    const english = table[name];
    if (typeof english === 'string') {
      table[name] = t.say(english);
    }
  }
  const choices: unknown[] = Array.isArray(table.oneOf) ? table.oneOf : [];
  const parts = [...Object.values(object(table.properties) ?? {}), ...choices];
  parts.forEach(part => translateSchema(part, t));
}
