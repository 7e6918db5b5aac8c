import type { SandboxOrder } from "../../../sandbox/mod.ts";
import { unitsOf } from "../../../sandbox/factory.ts";
import {
  type ChainsFile,
  createChainWitness,
  createWatcher,
  lookAtOrder,
  readChains,
} from "../../../witness/mod.ts";
import { orderOf } from "../rules/disagreements.ts";
import { inProcess } from "../rules/in_process.ts";
import type { Inspector } from "../rules/inspector.ts";
import { isStated } from "../chores/odd_ones.ts";
import { complete, orderBasket } from "../shop/scene_steps.ts";
import type { Dice } from "../world/dice.ts";
import { addOne } from "../world/journal.ts";
import type { World } from "../world/world.ts";
import {
  type ChainOrder,
  CONFIRMATIONS,
  type Fate,
  FATES,
} from "./chain_order.ts";
import { ChainRules } from "./chain_rules.ts";
import { type Mood, NODES, VirtualNodes } from "./virtual_nodes.ts";
import { VirtualChain, type VirtualTransfer } from "./virtual_chain.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** Names of them, and of what happens once all is settled, as they are counted. */
export const CHAIN_NAMES: readonly string[] = [
  ...FATES.map((fate) => `chain: ${fate}`),
  "chain: taken out after it was final",
];

/** Orders of the scene, beside one that is delivered as it should be. */
const OTHERS = 4;
/** Times at which the chain grows, nodes change their mood, and it is asked. */
const ROUNDS = 6;
/** How many nodes have to agree: one that lies is outvoted, or nobody decides. */
const QUORUM = 2;
const STRANGER = `0x${"b2".repeat(20)}`;
const NATIVE_DECIMALS = 18;
/** A look is bounded by the clock of the machine, which is not the world's. */
const NEVER_MS = 3_600_000;

/** Everything of the scene. */
interface Scene {
  readonly world: World;
  readonly inspector: Inspector;
  readonly dice: Dice;
  readonly chain: VirtualChain;
  readonly nodes: VirtualNodes;
  readonly orders: ChainOrder[];
  readonly rules: ChainRules;
  /** Since when its orders are made. */
  readonly since: string;
}

/**
 * The service says that it has paid baskets out, and the partner's own nodes
 * are asked, of which one may lie and others may not answer: nothing leaves
 * the shop before enough of them have seen it arrive, and what they see
 * otherwise is a person's task.
 */
export async function playChain(
  world: World,
  inspector: Inspector,
  dice: Dice,
): Promise<void> {
  const { clock, plan, front, journal } = world;
  // A service whose clock is behind dates orders before what holds for them.
  const { clockSkewMs = 0 } = plan.service;
  if (plan.shop === 0 || clockSkewMs < -minuteMs) return;
  // Nobody can look at a transaction that the service does not state.
  if (!isStated(world, "txId")) return;
  if (front.incarnation === null || !dice.chance(0.6)) return;
  await inProcess(
    world,
    front,
    ({ ledger }) => ledger.requireWitness("all"),
    hourMs,
  );
  // It holds from the next second on.
  await clock.advance(5000);
  const chain = new VirtualChain(() => clock.now());
  const orders: ChainOrder[] = [];
  const stated = (txId: string) =>
    orders.find((one) => one.stated.txId === txId)?.stated ?? null;
  const scene: Scene = {
    world,
    inspector,
    dice,
    chain,
    nodes: new VirtualNodes(chain, stated, (fault) => journal.count(fault)),
    orders,
    rules: new ChainRules(world, chain, orders),
    // Orders are listed by our own clock where theirs is far ahead of it.
    since: new Date(Math.min(clock.now(), world.now()) - minuteMs)
      .toISOString(),
  };
  const [first, ...others] = FATES;
  for (const fate of [first, ...dice.shuffle(others).slice(0, OTHERS)]) {
    const order = await sell(scene, fate);
    if (order === null) return;
    orders.push(order);
    addOne(journal.chores, `chain: ${fate}`);
  }
  for (let round = 0; round < ROUNDS; round++) await playRound(scene, round);
  await settle(scene);
  await takeOut(scene);
}

/** A basket is ordered and, by the service's word, paid out. */
async function sell(
  { world, inspector, dice }: Scene,
  fate: Fate,
): Promise<ChainOrder | null> {
  const [made] = await orderBasket(world) ?? [];
  if (made === undefined) return null;
  await complete(world, inspector, made);
  const order = world.sandbox.order(made.orderId) ?? made;
  const stated = statedOf(order);
  return {
    orderId: order.orderId,
    fate,
    stated,
    sent: sentOf(fate, stated, dice),
  };
}

function statedOf(order: SandboxOrder): VirtualTransfer {
  const { txId, address, cryptoAmount } = order;
  const units = unitsOf(cryptoAmount, NATIVE_DECIMALS);
  return { txId, to: address, units, reverts: false };
}

function sentOf(
  fate: Fate,
  stated: VirtualTransfer,
  dice: Dice,
): VirtualTransfer {
  const off = BigInt(dice.pick([1, 7, 1_000_000]));
  switch (fate) {
    case "paid short":
      return { ...stated, units: stated.units - off };
    case "paid too much":
      return { ...stated, units: stated.units + off };
    case "paid to another":
      return { ...stated, to: STRANGER };
    case "reverted":
      return { ...stated, reverts: true };
    default:
      return stated;
  }
}

/** The chain grows, nodes change their mood, and the nodes are asked. */
async function playRound(scene: Scene, round: number): Promise<void> {
  const { world, dice, chain, nodes, orders } = scene;
  for (const { fate, sent } of orders) {
    const isIn = chain.find(sent.txId) !== null;
    const late = fate === "sent late" && round < 3;
    if (fate !== "never sent" && !late && !isIn && dice.chance(0.7)) {
      chain.send(sent);
    }
  }
  chain.mine(dice.int(1, 2));
  const taken = orders.find(({ fate, sent }) =>
    fate === "taken out and sent again" && isShallow(chain, sent.txId)
  );
  if (taken !== undefined && dice.chance(0.6)) {
    chain.reorganise(chain.find(taken.sent.txId)?.depth ?? 1);
    world.journal.count("chain reorganised");
  }
  nodes.moods = moodsOf(dice);
  await watch(scene);
  await world.clock.advance(dice.int(5, 20) * minuteMs);
}

function isShallow(chain: VirtualChain, txId: string): boolean {
  const depth = chain.find(txId)?.depth;
  return depth !== undefined && depth < CONFIRMATIONS;
}

/** One of them may lie, and any may be silent. */
function moodsOf(dice: Dice): ReadonlyMap<string, Mood> {
  const liar = dice.chance(0.4) ? dice.pick(NODES) : null;
  return new Map(
    NODES.map((name) => [
      name,
      name === liar ? "lies" : dice.chance(0.4) ? "silent" : "honest",
    ]),
  );
}

/** The process that takes webhooks asks the nodes about all that is due. */
async function watch(scene: Scene): Promise<void> {
  const { world, inspector, rules, since } = scene;
  rules.note();
  await inProcess(
    world,
    world.front,
    async (incarnation) => {
      await createWatcher({
        ...partsOf(scene),
        ledger: incarnation.ledger,
      }).once({ since });
    },
    hourMs,
  );
  await told(scene);
  await inspector.look();
  await rules.hold();
}

/** What is asked, and by what: each of it can be broken. */
function partsOf({ world, nodes, dice }: Scene) {
  const { ports } = world;
  const file: ChainsFile = {
    sepolia: {
      nodes: nodes.addresses,
      quorum: QUORUM,
      confirmations: CONFIRMATIONS,
      blockMs: minuteMs,
    },
  };
  const chains = readChains(ports.chains?.(file) ?? file, "sandbox");
  const witness = createChainWitness({
    chains,
    assets: "sandbox",
    fetch: nodes.fetch,
    now: () => world.now(),
    timeoutMs: NEVER_MS,
  });
  return {
    chains,
    witness: ports.witness?.(witness) ?? witness,
    now: () => world.now(),
    randomBytes: (length: number) => dice.bytes(length),
  };
}

/** What was recorded is folded, and the shop hears of it. */
async function told({ world }: Scene): Promise<void> {
  const { clock, front } = world;
  await inProcess(
    world,
    front,
    ({ ledger }) => ledger.project(),
    hourMs,
  );
  front.incarnation?.subscription?.wake();
  await clock.advance(2 * minuteMs);
}

/** All nodes are well, and what is sent is final: everything is decided. */
async function settle(scene: Scene): Promise<void> {
  const { world, chain, nodes, orders, rules } = scene;
  nodes.moods = new Map();
  for (const { fate, sent } of orders) {
    if (fate !== "never sent" && chain.find(sent.txId) === null) {
      chain.send(sent);
    }
  }
  chain.mine(CONFIRMATIONS);
  // What did not change was to be asked less and less often.
  for (let looks = 0; looks < 6; looks++) {
    await world.clock.advance(6 * hourMs);
    chain.mine(1);
    await watch(scene);
  }
  await world.clock.advance(12 * minuteMs);
  await scene.inspector.look();
  await rules.settled();
}

/** The chain loses what was final, and a person asks the nodes again. */
async function takeOut(scene: Scene): Promise<void> {
  const { world, inspector, dice, chain, orders, rules } = scene;
  const arrived = orders.find(({ fate }) => fate === "delivered");
  if (arrived === undefined || !dice.chance(0.7)) return;
  const { orderId, sent } = arrived;
  const depth = chain.find(sent.txId)?.depth ?? 0;
  chain.reorganise(depth);
  rules.note();
  await inProcess(
    world,
    world.front,
    async (incarnation) => {
      await lookAtOrder(incarnation.ledger, orderId, partsOf(scene));
    },
    hourMs,
  );
  await told(scene);
  await inspector.look();
  rules.withdrawn(orderId, await orderOf(world, orderId));
  addOne(world.journal.chores, "chain: taken out after it was final");
}
