/** The device picker as a widget: the sidebar's control, driven by the widget's model. */

import { useState, type ReactElement } from 'react';

import { picks, wordName } from '../kernel/devicechoice';
import type { Translate } from '../language/i18n';
import { readSidebarState, readDeviceStatus } from '../kernel/messages';
import { count } from '../language/untrusted';
import { DeviceSelect } from '../sidebar/DevicePicker';
import { Prose } from '../receipts/Prose';
import { RestartNotice } from '../receipts/RestartNotice';
import { useTrait, type IModel } from './model';

/** A choice that the kernel has not received yet: most kernels receive nothing while a cell runs. */
interface ISent {
  word: string;
  /** Number of choices that the kernel had received before. */
  heard: number;
}

export function DevicePicker(props: { model: IModel; t: Translate }): ReactElement {
  const { model, t } = props;
  const device = readDeviceStatus(useTrait(model, 'device'));
  const choices = readSidebarState(useTrait(model, 'choices'));
  const heard = count(useTrait(model, 'heard')) ?? 0;
  const ended = useTrait(model, 'ended') === true;
  const [sent, setSent] = useState<ISent | null>(null);
  const choose = (word: string, framework: string | null): void => {
    setSent({ word, heard });
    model.send({ word, framework });
  };
  const answer = choices?.said ?? null;
  return (
    <div role="group" className="jp-mlgpu-Picker" aria-label={t('device')}>
      <fieldset className="jp-mlgpu-Widget-fields" disabled={ended}>
        {picks(device, choices).map(pick => (
          <DeviceSelect
            key={pick.framework}
            pick={pick}
            onChoose={word => choose(word, pick.framework)}
            t={t}
          />
        ))}
      </fieldset>
      <p role="status" className="jp-mlgpu-Picker-said" data-refused={answer?.refused ?? false}>
        <Prose
          text={
            ended
              ? t('widgetEnded')
              : sent !== null && sent.heard === heard
                ? t('notHeardYet', { device: wordName(sent.word, t) })
                : choices?.device
                  ? t('applies', { device: wordName(choices.device.word, t) })
                  : t.say(answer?.sentence ?? '')
          }
        />
      </p>
      {answer?.restart && (
        // A widget cannot restart a kernel, so the notice says how to do it by hand.
        <RestartNotice
          hint={answer.restart}
          obstacle="elsewhere"
          progress={null}
          onRestart={() => undefined}
          t={t}
        />
      )}
    </div>
  );
}
