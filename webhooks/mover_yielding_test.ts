import assert from "node:assert/strict";
import { mock } from "node:test";
import { setImmediate } from "node:timers";
import { type Spool, spoolMover } from "./mod.ts";

/** Records of a burst in the time between two groups. */
const BURST = 200;

interface Bursting {
  /** Lets milliseconds pass, in which a burst goes on or not. */
  readonly pass: (ms: number, comes: "burst" | "nothing") => Promise<void>;
  /** How often the spool was drained. */
  readonly drains: () => number;
  /** How many bytes each record takes. */
  readonly setRecordBytes: (bytes: number) => void;
}

/** A mover on a spool that takes nothing away, with a clock of its own. */
async function bursting(work: (it: Bursting) => Promise<void>): Promise<void> {
  let depth = 0;
  let recordBytes = 700;
  let drains = 0;
  let onKept = (): void => {};
  const done = (): Promise<void> => Promise.resolve();
  const spool: Spool = {
    get depth(): number {
      return depth;
    },
    get bytes(): number {
      return depth * recordBytes;
    },
    oldestMs: null,
    writers: { own: "a", takenOver: new Set(), others: new Set(), listedMs: 0 },
    put: done,
    noRoomFor: () => null,
    note: done,
    onKept: (listener) => onKept = listener,
    drain: () => {
      drains++;
      const drained = depth;
      depth = 0;
      return Promise.resolve(drained);
    },
    tidy: done,
    ready: done,
    close: done,
  };
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const mover = spoolMover({ spool, take: done });
    const pass: Bursting["pass"] = async (ms, comes) => {
      for (let passed = 0; passed < ms; passed += 50) {
        if (comes === "burst") {
          depth += BURST;
          onKept();
        }
        mock.timers.tick(50);
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    await pass(0, "nothing");
    await work({
      pass,
      drains: () => drains,
      setRecordBytes: (bytes) => recordBytes = bytes,
    });
    await mover.stop();
  } finally {
    mock.timers.reset();
  }
}

Deno.test("spoolMover() lets a burst go before, and moves when it is over", () =>
  bursting(async ({ pass, drains }) => {
    await pass(500, "burst");
    const before = drains();
    await pass(3_000, "burst");
    assert.equal(drains(), before, "nothing is moved during a burst");
    await pass(200, "nothing");
    assert.equal(drains(), before + 1);
  }));

Deno.test("spoolMover() lets a burst go before for some seconds at most", () =>
  bursting(async ({ pass, drains }) => {
    await pass(500, "burst");
    const before = drains();
    await pass(6_000, "burst");
    assert.equal(drains(), before + 1);
  }));

Deno.test("spoolMover() lets a burst go before until 64 MB wait", () =>
  bursting(async ({ pass, drains, setRecordBytes }) => {
    await pass(500, "burst");
    const before = drains();
    setRecordBytes(64 << 20);
    await pass(100, "burst");
    assert(drains() > before);
  }));
