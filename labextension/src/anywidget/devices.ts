/** What the picker is told of the kernel's devices, and of what became of a choice; the only way in. */

import type { IDevice } from '../record';
import { readDevice } from '../record';
import { FEW, LONG, list, listOrNull, object, text } from '../untrusted';

export interface IDevices {
  /** The frameworks that are imported. */
  frameworks: string[];
  /** The device asked for of all frameworks, or of each, in words. */
  requested: string | null;
  /** The word that was asked for of each framework. */
  asked: ReadonlyMap<string, string>;
  /** The device that each framework has for it. */
  chosen: ReadonlyMap<string, string>;
  /** null: no framework has used a device yet. */
  available: IDevice[] | null;
}

export interface ISaid {
  sentence: string;
  refused: boolean;
  /** Why a restart is needed, and how to do it by hand. */
  restart: { sentence: string; byHand: string } | null;
}

export interface IChoice {
  /** The word that waits for the running cell's end. */
  waits: string | null;
  said: ISaid | null;
}

export function readDevices(data: unknown): IDevices {
  const table = object(data);
  return {
    frameworks: list(table?.frameworks, FEW, one => text(object(one)?.name)),
    requested: text(table?.requested),
    asked: words(table?.asked, 'word'),
    chosen: words(table?.chosen, 'device'),
    available: listOrNull(table?.available, readDevice)
  };
}

export function readChoice(data: unknown): IChoice {
  const table = object(data);
  return { waits: text(object(table?.device)?.word), said: readSaid(table?.said) };
}

/** The words to choose from: those that always are, and the numbered devices where there are several. */
export function wordsFor(devices: readonly string[], asked: string | null): readonly string[] {
  const numbered = devices.filter(
    device => devices.filter(other => kindOf(other) === kindOf(device)).length > 1
  );
  return [...new Set(['cpu', 'gpu', 'any', ...numbered, ...(asked === null ? [] : [asked])])];
}

function kindOf(device: string): string {
  return device.split(':')[0] ?? device;
}

function words(data: unknown, name: string): ReadonlyMap<string, string> {
  return new Map(
    list(data, FEW, (item): [string, string] | null => {
      const table = object(item);
      const framework = text(table?.framework);
      const word = text(table?.[name]);
      return framework === null || word === null ? null : [framework, word];
    })
  );
}

function readSaid(data: unknown): ISaid | null {
  const table = object(data);
  const sentence = text(table?.sentence, LONG);
  if (table === null || sentence === null) {
    return null;
  }
  const restart = object(table.restart);
  return {
    sentence,
    refused: table.refused === true,
    restart: restart && {
      sentence: text(restart.sentence, LONG) ?? '',
      byHand: text(restart.by_hand, LONG) ?? ''
    }
  };
}
