/**
 * From JupyterLab's settings to our preferences; the Settings editor shows them in JupyterLab's language.
 */

import type { ISettingRegistry } from '@jupyterlab/settingregistry';

import { isMessage } from './i18n';
import type { Translate } from './i18n';
import { preferences, readPreferences } from './preferences';
import { object } from './untrusted';

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

/** Put our texts into a schema: `setting_position`, `setting_position_about` and `setting_position_left`. */
function translateSchema(schema: unknown, t: Translate): void {
  const put = (table: unknown, key: string, message: string): void => {
    const target = object(table);
    if (target !== null && isMessage(message)) {
      target[key] = t(message);
    }
  };
  put(schema, 'title', 'title');
  put(schema, 'description', 'settingsAbout');
  for (const [name, property] of Object.entries(object(object(schema)?.properties) ?? {})) {
    put(property, 'title', `setting_${name}`);
    put(property, 'description', `setting_${name}_about`);
    const choices = object(property)?.oneOf;
    for (const one of Array.isArray(choices) ? (choices as unknown[]) : []) {
      put(one, 'title', `setting_${name}_${String(object(one)?.const)}`);
    }
  }
}
