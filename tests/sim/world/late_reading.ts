import { userSnapshot } from "../../../ledger/testing/mod.ts";
import { appendStatement } from "../../../ledger/for_sync.ts";
import type { UserState } from "../../../ledger/mod.ts";
import type { SandboxUser, UserStep } from "../../../sandbox/mod.ts";
import { isOdd } from "../chores/odd_ones.ts";
import { pollOnce } from "../rules/convergence.ts";
import { userOf } from "../rules/disagreements.ts";
import type { Inspector } from "../rules/inspector.ts";
import { check } from "./journal.ts";
import { passing } from "./virtual_time.ts";
import type { World } from "./world.ts";

const minuteMs = 60_000;

/** What happens to the user, and the webhook by which we come to read it. */
const BANS: readonly (readonly [banned: boolean, step: UserStep])[] = [
  [true, "verify_start"],
  [false, "verify_retry"],
  [true, "verify_failed"],
];

/**
 * A user is banned, and again after being let in, each of which is an entry.
 * Then a reading arrives after one that was made 30 seconds later.
 */
export async function readLate(
  world: World,
  inspector: Inspector,
): Promise<void> {
  const { sandbox, clock, front, store } = world;
  const { userId } = soundUser(world);
  for (const [banned, step] of BANS) {
    sandbox.amendUser(userId, { banned });
    sandbox.advanceUser(userId, step);
    await clock.advance(5000);
    let known: UserState | null = null;
    for (let polls = 0; polls < 6 && known?.banned !== banned; polls++) {
      await pollOnce(world, inspector, ["confirm"]);
      known = await userOf(world, userId);
    }
    check(
      "a user is read of whom a webhook came",
      known?.banned === banned,
      () => `user ${userId}: banned is ${known?.banned}, not ${banned}`,
    );
  }
  await append({ banned: true, lkyc_status: "failed" }, 0);
  await append({ banned: false, lkyc_status: "progress" }, 30_000);

  async function append(
    says: Readonly<Record<string, unknown>>,
    lateMs: number,
  ): Promise<void> {
    await clock.advance(1000);
    const source = JSON.stringify({ user_id: userId, ...says });
    const event = readingOf(source, world.now() - lateMs, world.now());
    await store.batch([appendStatement([event])], "write");
    const ledger = front.incarnation?.ledger;
    if (ledger === undefined) return;
    await passing(clock, ledger.project(), 60 * minuteMs);
    await inspector.look();
  }
}

/** A reading that says less than the service would. */
function readingOf(source: string, readMs: number, recordedMs: number) {
  return userSnapshot({
    source,
    readAt: new Date(readMs).toISOString(),
    recordedAt: new Date(recordedMs).toISOString(),
    salt: new Uint8Array(16),
  });
}

/** A new user whose row is well, and whose id is not refused. */
function soundUser(world: World): SandboxUser {
  const { sandbox } = world;
  for (;;) {
    const user = sandbox.createUser({ lkyc: "not initiated" });
    const { userId } = user;
    if (!isOdd(world, userId) && !sandbox.refuses(userId)) return user;
  }
}
