// Progress of a study that takes long, with a button that stops it.

import { useEffect, useState } from "preact/hooks";

const LONG_MS = 2000;

/** Shows nothing for what is done within two seconds. */
export function Progress({ isBusy, done, of, onStop }: { isBusy: boolean; done: number; of: number; onStop: () => void }) {
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    setLong(false);
    if (!isBusy) return;
    const timer = setTimeout(() => setLong(true), LONG_MS);
    return () => clearTimeout(timer);
  }, [isBusy]);
  if (!isBusy || !isLong) return null;
  return (
    <div class="progress">
      <progress max={of} value={done} aria-label="Runs that have ended" />
      <span>
        {done} of {of} runs have ended
      </span>
      <button type="button" class="quiet" onClick={onStop}>
        Stop
      </button>
    </div>
  );
}
