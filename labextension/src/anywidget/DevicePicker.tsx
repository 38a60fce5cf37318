/** Choose the device of the cells to come, as `%mlc_device` does, and read what became of it. */

import { useId, useState } from 'react';
import type { ReactElement } from 'react';

import type { Message, Translate } from '../i18n';
import { count } from '../untrusted';
import { readChoice, readDevices, wordsFor } from './devices';
import type { IChoice, IDevices } from './devices';
import { useTrait } from './model';
import type { IModel } from './model';

/** A click that the kernel has not heard yet: many kernels hear nothing while a cell runs. */
interface IClick {
  word: string;
  /** How many the kernel had heard before. */
  heard: number;
}

export function DevicePicker(props: { model: IModel; t: Translate }): ReactElement {
  const { model, t } = props;
  const devices = readDevices(useTrait(model, 'device'));
  const choice = readChoice(useTrait(model, 'choices'));
  const heard = count(useTrait(model, 'heard')) ?? 0;
  const ended = useTrait(model, 'ended') === true;
  const [click, setClick] = useState<IClick | null>(null);
  const waits = click !== null && click.heard === heard ? click.word : choice.waits;
  const choose = (word: string, framework: string | null): void => {
    setClick({ word, heard });
    model.send({ word, framework });
  };
  return (
    <section className="jp-mlgpu-Picker" aria-label={t('pickerTitle')}>
      <h3>{t('pickerTitle')}</h3>
      {rows(devices, t).map(({ framework, ...row }) => (
        <Row
          key={framework}
          {...row}
          onChoose={ended ? null : word => choose(word, framework)}
          t={t}
        />
      ))}
      <div role="status">
        {ended ? (
          <p>{t('widgetEnded')}</p>
        ) : waits !== null ? (
          <p>{t('waitingForKernel', { device: waits })}</p>
        ) : (
          <Said choice={choice} devices={devices} t={t} />
        )}
      </div>
    </section>
  );
}

interface IRow {
  /** null: of all frameworks. */
  framework: string | null;
  title: string;
  asked: string | null;
  words: readonly string[];
  /** The device that it has, in words. */
  note: string;
}

/** Frameworks get a row each where there are several; with one alone, there is nothing to tell apart. */
function rows(devices: IDevices, t: Translate): IRow[] {
  const { frameworks, requested, asked, chosen, available } = devices;
  const each = frameworks.map(framework => {
    const word = asked.get(framework) ?? null;
    const device = chosen.get(framework);
    const own = (available ?? []).filter(one => one.framework === framework);
    return {
      framework,
      title: framework,
      asked: word,
      words: wordsFor(
        own.map(one => one.device),
        word
      ),
      note: device === undefined ? t('anyDevice') : t('nowOn', { device })
    };
  });
  const [only] = each;
  if (only && each.length === 1) {
    return [{ ...only, framework: null }];
  }
  const same = new Set(asked.values()).size === 1 && asked.size === each.length;
  const word = each.length === 0 ? requested : same ? ([...asked.values()][0] ?? null) : null;
  const all = {
    framework: null,
    title: t('allFrameworks'),
    asked: word,
    words: wordsFor([], word)
  };
  return [{ ...all, note: '' }, ...each];
}

function Row(
  props: Omit<IRow, 'framework'> & { onChoose: ((word: string) => void) | null; t: Translate }
): ReactElement {
  const { title, asked, words, note, onChoose, t } = props;
  const label = useId();
  return (
    <div className="jp-mlgpu-Picker-row" role="group" aria-labelledby={label}>
      <span id={label} className="jp-mlgpu-Picker-name">
        {title}
      </span>
      {words.map(word => (
        <button
          key={word}
          type="button"
          className="jp-mlgpu-Chip"
          aria-pressed={word === asked}
          title={word in MEANINGS ? t(MEANINGS[word as keyof typeof MEANINGS]) : undefined}
          disabled={onChoose === null}
          onClick={() => onChoose?.(word)}
        >
          {word}
        </button>
      ))}
      {note !== '' && <span className="jp-mlgpu-Quiet">{note}</span>}
    </div>
  );
}

const MEANINGS = { cpu: 'wordCpu', gpu: 'wordGpu', any: 'wordAny' } satisfies Record<
  string,
  Message
>;

/** What the kernel said of the last choice, in its own words; else what is asked for. */
function Said(props: { choice: IChoice; devices: IDevices; t: Translate }): ReactElement {
  const { devices, t } = props;
  const { said } = props.choice;
  if (said === null) {
    const { requested } = devices;
    return (
      <p className="jp-mlgpu-Quiet">
        {requested === null ? t('anyDevice') : t('askedFor', { device: requested })}
      </p>
    );
  }
  const lines = said.restart
    ? [said.sentence, said.restart.sentence, said.restart.byHand]
    : [said.sentence];
  return (
    <>
      {lines.map((line, index) => (
        <p key={index} className={said.refused ? 'jp-mlgpu-Note' : undefined}>
          {line}
        </p>
      ))}
    </>
  );
}
