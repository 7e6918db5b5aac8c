import { type FastClock, fastClock } from "../../../sandbox/mod.ts";

/** Real time that a leap takes, so that a person sees the clock run. */
const LEAP_TAKES_MS = 1500;

/**
 * The clock of shop, ledger and service alike: real time, until a person skips
 * ahead.
 */
export class DemoClock {
  /** The clock itself. */
  readonly clock: FastClock;

  /** Starts it, at a time in milliseconds since the epoch. */
  constructor(startMs: number) {
    this.clock = fastClock({ factor: 1, startMs });
  }

  /** Time, in milliseconds since the epoch. */
  readonly now = (): number => this.clock.now();

  /** Whether time is leaping. */
  get isLeaping(): boolean {
    return this.clock.factor !== 1;
  }

  /**
   * Lets time pass within a moment; one leap at a time.
   *
   * @param ms How much, in milliseconds.
   * @param onPace Called when the clock speeds up and slows down.
   */
  async leap(ms: number, onPace: () => void): Promise<void> {
    this.clock.setFactor(ms / LEAP_TAKES_MS);
    onPace();
    await this.clock.sleep(ms);
    this.clock.setFactor(1);
    onPace();
  }
}
