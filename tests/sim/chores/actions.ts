import { ExpectationError } from "../../../ledger/mod.ts";
import { transactionOf } from "../../../sandbox/factory.ts";
import {
  nextSteps,
  type OrderEventType,
  USER_STEPS,
} from "../../../sandbox/mod.ts";
import type { Dice } from "../world/dice.ts";
import { serviceFaults } from "../world/plan.ts";
import type { World } from "../world/world.ts";

/** Something that happens in the world. */
type Action = (world: World, dice: Dice) => void;

const encoder = new TextEncoder();

/** Orders beside a crowd's that a run has at most: more make it slower. */
const mostOrders = 70;

/** What can happen, and how often. */
const ACTIONS: readonly (readonly [number, Action])[] = [
  [22, buy],
  [40, moveOrder],
  [14, moveUser],
  [3, banUser],
  [5, amend],
  [6, lie],
  [3, odd],
  [2, garbage],
  [2, pressTest],
  [4, (world, dice) => shop(world, dice)],
  [4, changeFaults],
  [3, closeRoad],
  [8, enable],
  [12, poll],
  [4, crash],
  [5, outage],
  [2, refold],
  [8, race],
];

/** Recorded later than this, a session may be taken for a later one. */
const mostRecordingMs = 4 * 60_000;

/** Lets something happen. */
export function act(world: World, dice: Dice): void {
  dice.weighted(ACTIONS)(world, dice);
}

/** What happens last is told once at most, and not corrected by what follows. */
export function actLast(world: World, dice: Dice): void {
  for (const action of [banUser, moveUser, moveOrder, banUser]) {
    action(world, dice);
  }
}

function buy(world: World, dice: Dice): void {
  if (isFull(world)) return;
  const { sandbox } = world;
  const old = sandbox.users().filter(({ banned }) => !banned);
  const known = old.length > 0 && dice.chance(0.6);
  const user = known
    ? dice.pick(old)
    : sandbox.createUser({ lkyc: "not initiated" });
  sandbox.createOrder({ userId: user.userId });
}

/** Whether no more orders are bought. */
export function isFull({ sandbox, plan }: World): boolean {
  return sandbox.orders().length - plan.attack.crowd >= mostOrders;
}

function moveOrder({ sandbox }: World, dice: Dice): void {
  const open = sandbox.orders().filter((order) => nextSteps(order).length > 0);
  const fresh = open.filter(({ status }) => status !== "success");
  // Changes after the end are rare, and the ones that matter.
  const orders = fresh.length > 0 && dice.chance(0.9) ? fresh : open;
  if (orders.length === 0) return;
  const order = dice.pick(orders);
  sandbox.advance(order.orderId, dice.pick(nextSteps(order)));
}

function moveUser({ sandbox }: World, dice: Dice): void {
  const users = sandbox.users();
  if (users.length === 0) return;
  const { userId } = dice.pick(users);
  const order = sandbox.orders().find((one) => one.userId === userId);
  sandbox.advanceUser(userId, dice.pick(USER_STEPS), {
    clickId: order?.clickId ?? "",
    sessionId: order?.sessionId ?? null,
  });
}

function banUser({ sandbox }: World, dice: Dice): void {
  const users = sandbox.users();
  if (users.length === 0) return;
  const user = dice.pick(users);
  sandbox.amendUser(user.userId, { banned: !user.banned });
}

/** The service rewrites an order: other amounts, odd statuses, steps back. */
function amend({ sandbox, shop }: World, dice: Dice): void {
  // Within one second the service's own clock cannot tell what came last.
  const orders = sandbox.orders().filter((order) =>
    sandbox.now() - order.changedAtMs > 2000
  );
  if (orders.length === 0) return;
  const { orderId, status, network } = dice.pick(orders);
  shop.amended.add(orderId);
  sandbox.amendOrder(
    orderId,
    dice.pick([
      { status: "refund_pending" },
      { status: dice.pick(["progress", "pending", "success", "failed"]) },
      { currencyAmount: `${dice.int(1, 999)}.${dice.int(10, 99)}`, status },
      {
        txId: transactionOf(network, `${dice.int(1e8, 9e8)}`.padEnd(64, "a")),
        status,
      },
    ]),
  );
}

/** Payment errors, some of each group, and one that nobody knows. */
const FAIL_REASONS: readonly string[] = [
  ...[
    "4001",
    "4014",
    "4015",
    "4016",
    "4016",
    "4017",
    "4017",
    "4018",
    "4999",
    "4999",
  ],
];

/** The service contradicts itself: a status beside an error, or no transaction. */
export function restate({ sandbox, shop }: World, dice: Dice): void {
  const orders = sandbox.orders().filter((order) =>
    sandbox.now() - order.changedAtMs > 2000
  );
  if (orders.length === 0) return;
  const { orderId, status } = dice.pick(orders);
  const failReason = dice.pick(FAIL_REASONS);
  shop.amended.add(orderId);
  sandbox.amendOrder(
    orderId,
    dice.pick([
      { status, failReason },
      { status: "success", failReason },
      { status: "success", txId: "" },
      { status: "failed", failReason, txId: "" },
      { status: "cancelled", failReason, txId: "" },
    ]),
  );
}

/** A webhook that is not true. */
function lie({ sandbox }: World, dice: Dice): void {
  const orders = sandbox.orders();
  if (orders.length === 0) return;
  const { orderId } = dice.pick(orders);
  const type = dice.pick<OrderEventType>([
    "payment_started",
    "transfer_started",
    "order_complete",
    "order_failed",
    "order_cancelled",
  ]);
  sandbox.trigger({ type, orderId });
}

/** A webhook that nobody documented, or of an order without an id. */
function odd({ sandbox }: World, dice: Dice): void {
  const users = sandbox.users();
  const userId = users.length > 0 ? dice.pick(users).userId : undefined;
  const about = userId === undefined ? {} : { userId };
  sandbox.trigger(dice.pick([
    { type: "chargeback_opened", ...about },
    { type: "order_complete", fields: { order: { id: "" } } },
    { type: "logout", fields: { user: undefined } },
    { type: "order_complete", fields: { order: { id: "a,b" } } },
    { type: "order_complete", fields: { order: { id: "01\u0000NUL" } } },
    { type: "registration", fields: { user: { user_id: "a\u0000b" } } },
    { type: "login", fields: { click_id: "\ud800" } },
  ]));
}

/** Bytes that are no webhook at all. */
function garbage(world: World, dice: Dice): void {
  const body = dice.pick([
    encoder.encode(""),
    encoder.encode("[]"),
    encoder.encode("null"),
    encoder.encode('{"type":"order_complete","order":{"id":'),
    Uint8Array.from(dice.bytes(40)),
  ]);
  world.background(world.post(body));
}

function pressTest(world: World): void {
  world.background(world.sandbox.pressTest());
}

/** A user buys by a session that the partner made and recorded. */
export function shop(
  world: World,
  dice: Dice,
  clickId: string = dice.chance(0.5) ? `click-${dice.int(1, 5)}` : "",
): void {
  const { sandbox, front } = world;
  const { incarnation } = front;
  if (incarnation === null || isFull(world)) return;
  const { client, ledger } = incarnation;
  const wanted = {
    flow_type: "simple_full_restrict",
    wallet_address: "0x52908400098527886E0F7030069857D2E4169EE7",
    commodity: "ETH",
    network: "sepolia",
    currency: "USD",
    currency_amount: String(dice.int(5, 200)),
  } as const;
  const askedMs = world.clock.now();
  world.background((async () => {
    const { sessionId } = await client.sessions.create(wanted);
    const order = sandbox.createOrder({ sessionId, clickId });
    if (dice.chance(0.5)) sandbox.advance(order.orderId, "pay");
    try {
      await ledger.recordSession({
        session_id: sessionId,
        ...(clickId === "" ? {} : { click_id: clickId }),
        ...wanted,
      });
    } catch (error) {
      // Other terms for a click id that was paid under are refused.
      const isPaid = error instanceof ExpectationError &&
        error.code === "purchase_paid";
      if (!isPaid) throw error;
      return;
    }
    const { orderId } = order;
    const soon = world.clock.now() - askedMs < mostRecordingMs;
    world.journal.sessions.set(sessionId, { orderId, clickId, soon });
  })());
}

function changeFaults({ sandbox, plan }: World, dice: Dice): void {
  const { clockSkewMs = 0 } = plan.service;
  sandbox.setFaults({
    ...(dice.chance(0.3) ? plan.service : serviceFaults(dice)),
    clockSkewMs,
  });
}

/** The endpoint cannot be reached for a while, up to beyond the ladder. */
function closeRoad({ sandbox, clock, journal }: World, dice: Dice): void {
  journal.count("endpoint unreachable");
  const spanMs = dice.weighted([
    [3, dice.int(1000, 600_000)],
    [2, dice.int(600_000, 4 * 3_600_000)],
    [1, dice.int(8 * 3_600_000, 17 * 3_600_000)],
  ]);
  const fromMs = clock.now();
  sandbox.setFaults({
    endpointDownSpans: [{ fromMs, untilMs: fromMs + spanMs }],
  });
}

/** A person switches delivery on again. */
function enable({ sandbox }: World): void {
  if (sandbox.delivery.state === "disabled") sandbox.enableDelivery();
}

function poll({ processes }: World, dice: Dice): void {
  void dice.pick(processes.filter(({ role }) => role.poller))
    .incarnation?.poll();
}

function crash({ processes }: World, dice: Dice): void {
  dice.pick(processes).kill();
}

function outage({ processes, clock }: World, dice: Dice): void {
  dice.pick(processes).weather.outage = {
    code: dice.pick(["busy", "full", "unreachable"] as const),
    untilMs: clock.now() + dice.int(500, dice.chance(0.2) ? 600_000 : 20_000),
  };
}

function refold(world: World, dice: Dice): void {
  const { incarnation } = dice.pick(world.processes);
  if (incarnation === null) return;
  world.background(incarnation.ledger.refold({ dryRun: dice.chance(0.5) }));
}

/** Every process folds at once, while events go on coming. */
export function race(world: World, dice: Dice): void {
  const { clock, processes } = world;
  for (const { incarnation } of processes) {
    if (incarnation === null) continue;
    clock.setTimer(dice.int(0, 60), () => {
      world.background(incarnation.ledger.project());
    });
    clock.setTimer(dice.int(0, 120), () => lie(world, dice));
    clock.setTimer(dice.int(0, 60), () => moveOrder(world, dice));
  }
}
