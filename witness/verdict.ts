/** What the findings of nodes mean for an order, and what they agree on. Pure. */
import {
  countDecimals,
  decimalOfUnits,
  isDecimal,
  unitsOfDecimal,
} from "../core/decimal.ts";
import type {
  BlockPlace,
  Evidence,
  Look,
  NodeProblem,
  TransferQuestion,
} from "./transfer.ts";

/** What is looked for in a transaction. */
export interface Target {
  readonly txId: string;
  /** Address that should have been paid. */
  readonly address: string;
  /** Contract of the token; null for the chain's own asset. */
  readonly token: string | null;
  /** Call that should have succeeded, in place of a payment. */
  readonly call: NonNullable<TransferQuestion["smartContract"]> | null;
  /** Block in which the transaction was seen before. */
  readonly before: BlockPlace | null;
}

/** Something that a transaction paid to the address. */
export interface Payment {
  /** In smallest units. */
  readonly units: bigint;
  /** Place of its log or output; null where it has none. */
  readonly index: number | null;
}

/** What a transaction did, as one node shows it. */
export type Effect =
  | { readonly kind: "reverted" }
  | { readonly kind: "paid"; readonly payments: readonly Payment[] }
  | { readonly kind: "called"; readonly succeeded: boolean }
  | {
    readonly kind: "unclear";
    readonly reason: "cannot_trace" | "receipt_missing";
  };

/** Where one node has a transaction, and what it did there. */
export type Finding =
  | { readonly place: "unknown" | "waiting" }
  /**
   * It was in a block that is no longer part of the chain; `depth` is the
   * number of blocks from the one that replaced it, that one included.
   */
  | {
    readonly place: "dropped";
    readonly block: BlockPlace;
    readonly depth: number;
  }
  | {
    readonly place: "block";
    readonly block: BlockPlace;
    /** Blocks from its own to the newest, both included. */
    readonly confirmations: number;
    readonly effect: Effect;
  };

/** Height and time of a node's newest block. */
export interface NewestBlock {
  readonly tip: number;
  readonly tipMs: number;
}

export interface NodeFinding extends NewestBlock {
  readonly finding: Finding;
}

/** What one node said: `raw` has its answers as received, one a line. */
export type Answered<Result> =
  & { readonly node: string; readonly raw: string }
  & ({ readonly problem: NodeProblem } | Result & { readonly problem: null });

export type NodeAnswer = Answered<NodeFinding>;

/** A node, whatever it speaks; null stands for what it does not know. */
export interface ChainReader {
  /** Whether it serves the chain that it is to serve. */
  readonly isOfChain: () => Promise<boolean>;
  readonly newest: () => Promise<NewestBlock>;
  readonly hashAt: (height: number) => Promise<string | null>;
  readonly transaction: (target: Target) => Promise<
    {
      /** The block that the node last saw it in; null while it waits for one. */
      readonly block: BlockPlace | null;
      readonly effect: () => Effect | Promise<Effect>;
    } | null
  >;
}

/** Looks at a transaction at one node; throws where the node cannot be used. */
export async function lookWith(
  reader: ChainReader,
  target: Target,
): Promise<NodeFinding> {
  const found = await reader.transaction(target);
  const at = await reader.newest();
  const block = found?.block ?? null;
  const last = block ?? target.before;
  if (last !== null && (block !== null || last.blockHeight <= at.tip)) {
    const hash = await reader.hashAt(last.blockHeight);
    const isOther = hash?.toLowerCase() !== last.blockHash.toLowerCase();
    if (isOther && (block !== null || hash !== null)) {
      const depth = Math.max(0, at.tip - last.blockHeight + 1);
      return { ...at, finding: { place: "dropped", block: last, depth } };
    }
  }
  if (found === null || block === null) {
    const place = found === null ? "unknown" : "waiting";
    return { ...at, finding: { place } };
  }
  const confirmations = Math.max(1, at.tip - block.blockHeight + 1);
  const effect = await found.effect();
  return { ...at, finding: { place: "block", block, confirmations, effect } };
}

/** What one node's finding means for an order. */
export type NodeVerdict = Omit<Look, "evidence"> & Pick<Evidence, "index">;

/** How amounts of an asset are compared. */
export interface AmountRule {
  /** Decimals of the asset on the chain. */
  readonly chainDecimals: number;
  /**
   * Digits that the service states after the point; null where that is not
   * known, then those of the chain.
   */
  readonly statedDecimals: number | null;
}

/** What a finding is compared with. */
export interface VerdictRule extends AmountRule {
  /** Blocks that count as final. */
  readonly confirmations: number;
}

const NOWHERE = {
  reason: null,
  arrived: null,
  block: null,
  index: null,
  confirmations: null,
  final: false,
} as const;

/** What the finding of a node means for an order. */
export function verdictOf(
  finding: Finding,
  { amount, others = [] }: TransferQuestion,
  rule: VerdictRule,
): NodeVerdict {
  switch (finding.place) {
    case "unknown":
      return { ...NOWHERE, verdict: "absent" };
    case "waiting":
      return { ...NOWHERE, verdict: "pending" };
    case "dropped": {
      const final = finding.depth >= rule.confirmations;
      const { block } = finding;
      return { ...NOWHERE, verdict: "reorged", block, final };
    }
  }
  const { block, confirmations, effect } = finding;
  const isDeep = confirmations >= rule.confirmations;
  const found = { ...NOWHERE, block, confirmations, final: isDeep };
  // What is undecided is never final: another node may still decide it.
  const undecided = (reason: Look["reason"]): NodeVerdict => ({
    ...found,
    ...{ verdict: "undecided", reason, final: false },
  });
  switch (effect.kind) {
    case "reverted":
      return { ...found, verdict: "reverted" };
    case "unclear":
      return undecided(effect.reason);
    case "called":
      if (!effect.succeeded) {
        return { ...found, verdict: "other_recipient_or_asset" };
      }
      // Nobody can say whose the one call is that several orders name.
      return others.length > 0
        ? undecided("shared_transaction")
        : { ...found, verdict: "delivered" };
    case "paid": {
      if (amount === null) return undecided("amount_not_stated");
      const compared = compareAmounts(effect.payments, amount, others, rule);
      return compared === null
        ? undecided("shared_transaction")
        : { ...found, ...compared };
    }
  }
}

/**
 * Compares what arrived with what the service states, exactly: at the digits
 * that the service states of the asset, where the chain has more of them.
 *
 * A transaction that several orders name for one address pays each of them with
 * a payment of exactly its amount, or nobody can say whose is whose.
 */
export function compareAmounts(
  payments: readonly Payment[],
  amount: string,
  others: readonly string[],
  rule: AmountRule,
): Pick<NodeVerdict, "verdict" | "arrived" | "index"> | null {
  const paid = payments.filter(({ units }) => units > 0n);
  const [first] = paid;
  if (first === undefined) {
    return { verdict: "other_recipient_or_asset", arrived: "0", index: null };
  }
  const own = others.length === 0
    ? {
      units: paid.reduce((sum, { units }) => sum + units, 0n),
      index: paid.length === 1 ? first.index : null,
    }
    : ownPayment(paid, amount, others, rule);
  return own && {
    verdict: compareUnits(own.units, amount, rule),
    arrived: decimalOfUnits(own.units, rule.chainDecimals),
    index: own.index,
  };
}

/** The payment of exactly this order's amount, if each other order has its own. */
function ownPayment(
  paid: readonly Payment[],
  amount: string,
  others: readonly string[],
  rule: AmountRule,
): Payment | null {
  const left = [...paid];
  const taken = [amount, ...others].flatMap((one) => {
    const found = left.findIndex(({ units }) =>
      isDecimal(one) && compareUnits(units, one, rule) === "delivered"
    );
    return found === -1 ? [] : left.splice(found, 1);
  });
  return taken.length === 1 + others.length ? taken[0] ?? null : null;
}

function compareUnits(
  units: bigint,
  amount: string,
  { chainDecimals, statedDecimals }: AmountRule,
): "delivered" | "short" | "more" {
  // Digits that were stated all the same count.
  const digits = Math.min(
    chainDecimals,
    Math.max(statedDecimals ?? chainDecimals, countDecimals(amount)),
  );
  const cut = 10n ** BigInt(chainDecimals - digits);
  const stated = unitsOfDecimal(amount, chainDecimals);
  // Of digits that the chain does not have, the last unit may be rounded.
  const rounded = countDecimals(amount) > chainDecimals ? 1n : 0n;
  const over = units - stated;
  if (over > -cut && over < cut + rounded) return "delivered";
  return units < stated ? "short" : "more";
}

/** A node's verdict, or what is wrong with the node. */
export interface Vote {
  readonly node: string;
  readonly problem: NodeProblem | null;
  /** Null where there is a problem. */
  readonly verdict: NodeVerdict | null;
}

/** When the newest block of a node is too old to be trusted. */
export interface LagRule {
  /** Time between two blocks, in milliseconds. */
  readonly blockMs: number;
  readonly nowMs: number;
}

/** Blocks by which one node may be behind another, and its block may be old. */
const BLOCKS_BEHIND = 20;
/** How long a chain may pause without anything being wrong. */
const LEAST_LAG_MS = 10 * 60_000;

/**
 * Whether a node is behind: its newest block is old, or far below another's.
 */
export function isLagging(
  { tip, tipMs }: NewestBlock,
  highest: number,
  { blockMs, nowMs }: LagRule,
): boolean {
  return highest - tip > BLOCKS_BEHIND ||
    nowMs - tipMs > Math.max(LEAST_LAG_MS, BLOCKS_BEHIND * blockMs);
}

/** The highest of what nodes say to be the newest block. */
export function highestTip(answers: readonly Answered<NewestBlock>[]): number {
  return Math.max(
    0,
    ...answers.map((one) => one.problem === null ? one.tip : 0),
  );
}

/**
 * Which verdicts count. A node that lags may say that something arrived, and
 * nothing against an order: it may not have read that far yet.
 */
export function votesOf(
  answers: readonly NodeAnswer[],
  judge: (finding: Finding) => NodeVerdict,
  rule: LagRule,
): readonly Vote[] {
  const highest = highestTip(answers);
  return answers.map((answer) => {
    const { node, problem } = answer;
    if (answer.problem !== null) return { node, problem, verdict: null };
    const verdict = judge(answer.finding);
    const lags = verdict.verdict !== "delivered" &&
      isLagging(answer, highest, rule);
    return lags
      ? { node, problem: "lagging", verdict: null }
      : { node, problem: null, verdict };
  });
}

/** What a quorum says, without what only the answers' text can say. */
export type Agreed = NodeVerdict & Pick<Evidence, "nodes" | "problems">;

/**
 * What enough nodes agree on. They agree where verdict, amount, block and place
 * are the same; it is as deep as the least of them says. Two groups that are
 * both large enough are not a quorum.
 */
export function agree(votes: readonly Vote[], quorum: number): Agreed {
  const counted = votes.flatMap(({ node, verdict }) =>
    verdict === null ? [] : [{ node, ...verdict }]
  );
  const groups = [
    ...Map.groupBy(
      counted,
      ({ verdict, reason, arrived, block, index }) =>
        JSON.stringify([verdict, reason, arrived, block?.blockHash, index]),
    ).values(),
  ];
  const [group = [], another] = groups.filter(({ length }) => length >= quorum);
  const [first] = group;
  if (first === undefined || another !== undefined) {
    return undecided(votes, groups.length);
  }
  const { node: _, ...agreed } = first;
  const depths = group.flatMap(({ confirmations }) => confirmations ?? []);
  const nodes = group.map(({ node }) => node);
  return {
    ...agreed,
    confirmations: depths.length === 0 ? null : Math.min(...depths),
    final: group.filter(({ final }) => final).length >= quorum,
    nodes,
    problems: votes.filter(({ node }) => !nodes.includes(node)).map((
      { node, problem },
    ) => ({ node, problem: problem ?? "says_otherwise" })),
  };
}

function undecided(votes: readonly Vote[], groups: number): Agreed {
  const isWrong = votes.length > 0 &&
    votes.every(({ problem }) => problem === "wrong_chain");
  const why = groups === 0
    ? "no_node_answered"
    : groups === 1
    ? "no_quorum"
    : "nodes_disagree";
  return {
    ...NOWHERE,
    verdict: isWrong ? "wrong_chain" : "undecided",
    reason: isWrong ? null : why,
    nodes: [],
    problems: votes.flatMap(({ node, problem }) =>
      problem !== null
        ? [{ node, problem }]
        : groups > 1
        ? [{ node, problem: "says_otherwise" }]
        : []
    ),
  };
}
