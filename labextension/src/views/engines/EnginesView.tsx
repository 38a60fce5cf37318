/** What was collected from several engines: a lane each on one clock, tables beside it, what is missing. */

import { useCallback } from 'react';
import type { ReactElement } from 'react';

import { engineOf, lengthOf } from '../../engines';
import type { IEngine, IEngines } from '../../engines';
import type { NameOf } from '../../eventwords';
import { formatSeconds } from '../../format';
import type { Message, Translate } from '../../i18n';
import { cutInWords } from '../../notes';
import type { ILane } from '../../timeline';
import { Fold } from '../Fold';
import { Timeline } from '../inside/Timeline';
import type { Words } from '../inside/Timeline';

export function EnginesView(props: { found: IEngines; t: Translate }): ReactElement {
  const { found, t } = props;
  const answered = found.engines.filter(({ state }) => state === 'collected').length;
  const partial = answered < found.engines.length;
  const shown = found.timeline.starts.length;
  const cut = [...found.cut].map(part => cutInWords(part, t)).join(', ');
  const phases = found.engines.filter(one => one.compute !== null || one.communicate !== null);
  const nameOf = useCallback<NameOf>((lane, say) => laneName(found, lane, say), [found]);
  const told = {
    answered: answered.toLocaleString(),
    engines: found.engines.length.toLocaleString(),
    records: found.records.toLocaleString(),
    time: formatSeconds(lengthOf(found))
  };
  return (
    <section className="jp-mlgpu-Figure" aria-label={t('enginesTitle')}>
      <h3>{t(partial ? 'enginesPartial' : 'enginesHead', told)}</h3>
      {shown > 0 && <Timeline timeline={found.timeline} all nameOf={nameOf} words={WORDS} t={t} />}
      {shown < found.records && (
        <p className="jp-mlgpu-Note">
          {t('enginesDrawn', { shown: shown.toLocaleString(), count: told.records })}
        </p>
      )}
      <Engines engines={found.engines} t={t} />
      {phases.length > 0 && <Phases engines={phases} t={t} />}
      {found.sentences.map((one, index) => (
        <p key={index}>{t.say(one)}</p>
      ))}
      {cut !== '' && <p className="jp-mlgpu-Quiet">{t('enginesCut', { parts: cut })}</p>}
      <Fold label={t('enginesClockNote')}>
        {() => <p className="jp-mlgpu-Quiet">{t.say(found.clock)}</p>}
      </Fold>
    </section>
  );
}

const WORDS: Words = {
  view: 'enginesInView',
  whole: 'enginesWhole',
  keys: 'enginesKeys'
};

/** A lane's name; of an engine that is not there, with the word for it. */
function laneName(found: IEngines, lane: ILane | undefined, t: Translate): string {
  const line = lane?.line ?? '';
  const name = t('engine', { number: line });
  const engine = engineOf(found, line);
  return engine === undefined || engine.state === 'collected'
    ? name
    : `${name}: ${t(STATES[engine.state])}`;
}

const STATES: Record<IEngine['state'], Message> = {
  collected: 'engineCollected',
  'no answer': 'engineSilent',
  gone: 'engineGone'
};

function Engines(props: { engines: readonly IEngine[]; t: Translate }): ReactElement {
  const { engines, t } = props;
  const heads: Message[] = [
    'engineColumn',
    'engineState',
    'engineRecords',
    'engineBusy',
    'engineClock',
    'engineMachine'
  ];
  return (
    <Table caption={t('enginesTable')} heads={heads} t={t}>
      {engines.map(one => (
        <tr key={one.engine}>
          <th scope="row">{one.engine}</th>
          <td data-state={one.state}>{t(STATES[one.state])}</td>
          <td>{one.records.toLocaleString()}</td>
          <td>{one.busy === null ? '' : formatSeconds(one.busy)}</td>
          <td>{clockOf(one, t)}</td>
          <td>{one.here ? t('engineHere') : (one.machine ?? t('engineNotKnown'))}</td>
        </tr>
      ))}
    </Table>
  );
}

function Phases(props: { engines: readonly IEngine[]; t: Translate }): ReactElement {
  const { engines, t } = props;
  const heads: Message[] = ['engineColumn', 'engineCompute', 'engineCommunicate', 'engineWaiting'];
  return (
    <Table caption={t('enginesPhases')} heads={heads} t={t}>
      {engines.map(one => (
        <tr key={one.engine}>
          <th scope="row">{one.engine}</th>
          <td>{one.compute === null ? '' : formatSeconds(one.compute)}</td>
          <td>{one.communicate === null ? '' : formatSeconds(one.communicate)}</td>
          <td>{waitingOf(one, t)}</td>
        </tr>
      ))}
    </Table>
  );
}

function Table(props: {
  caption: string;
  heads: readonly Message[];
  children: ReactElement[];
  t: Translate;
}): ReactElement {
  const { caption, heads, children, t } = props;
  return (
    <div
      className="jp-mlgpu-Details jp-mlgpu-Figure-wide"
      role="group"
      aria-label={caption}
      tabIndex={0}
    >
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {heads.map(head => (
              <th key={head} scope="col">
                {t(head)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function clockOf({ offset, uncertainty, roundTrips }: IEngine, t: Translate): string {
  if (offset === null || uncertainty === null) {
    return t('engineNotKnown');
  }
  if (roundTrips === 0) {
    return t('engineSameClock');
  }
  const sign = offset < 0 ? '−' : '+';
  return `${sign}${formatSeconds(Math.abs(offset))} ± ${formatSeconds(uncertainty)}`;
}

function waitingOf({ communicate, waiting, waitingUncertainty }: IEngine, t: Translate): string {
  if (communicate === null) {
    return '';
  }
  if (waiting === null) {
    return t('engineNotKnown');
  }
  const said = formatSeconds(waiting);
  return waitingUncertainty ? `${said} ± ${formatSeconds(waitingUncertainty)}` : said;
}
