const ORDER = {
  currency: "Fiat currency, upper case",
  currencyAmount: "Amount in `currency`, a decimal string as sent",
  commodity: "Asset code in upper case",
  network: "Network; webhooks do not state it",
  cryptoAmount: "Amount of the asset, a decimal string as sent",
  address: "Address the asset goes to",
  txId: "Transaction hash",
  userId: "User identifier",
  clickId: "Click id; the test click id is left out",
  externalOrderId: "Short identifier shown to people",
  failReason: "Payment error code or text",
  orderId: "Order identifier",
  status: "Status by the rules of the ledger",
  trust: "Whether `status` is confirmed by the service",
  reason: "The reason for the status, as a code with its data",
  outcome:
    "What it has come to: the first row of the table of outcomes that applies",
  release:
    "Whether the goods may be released, by that row. No webhook changes it once the service has shown the order",
  releaseReason: "Why",
  booked: "What a month books of it",
  attention: "Why a person has to look, the gravest first",
  facts: "All that the outcome depends on, one word each",
  createdAt:
    "Creation time as the service states it, UTC ISO 8601. One later than the reading that shows it is an anomaly, and nothing is decided by it",
  changedAt: "Last change as the service states it, UTC ISO 8601; likewise",
  cryptoType: "Middle part of the dotted asset, for example `simple` or `sc`",
  cardId: "Card used",
  cardBrand: "Card brand",
  paymentType: "Authentication method of the payment",
  processedThrough: "Acquirer",
  fees: "Fees; amounts are USD decimal strings, percents are shares as sent",
  smartContract: "Input data and address of a smart-contract order",
  transferSeen: "Whether a webhook said that the transfer has begun",
  history: "Distinct (source, status) pairs seen, sorted",
  claimed: "What webhooks say, chosen field by field; null when none came",
  confirmed: "What the latest snapshot says; null when there is none",
  sessions: "Widget sessions this order was seen in, sorted",
  expected:
    "What the partner expects of the order: the one that matched, else the last one that was recorded before the order under the click id which the service shows. Null when none was, or so many that it does not tell",
  anomalies: "What is odd about this order, sorted by kind",
  failMeaning: "Meaning of `failReason` where it is a documented code",
};

const USER = {
  userId: "User identifier",
  status:
    "`banned` where the service says so, else the document verification once it has begun, else the light one, else `unknown`",
  trust: "`confirmed` when all inputs of `status` are confirmed by the service",
  next: "What the user must do next, by `status`",
  reason: "The reason for the trust, as a code with its data",
  verification:
    "State of the light (`lkyc`) and the document (`fkyc`) verification",
  verificationTrust: "How sure each verification is",
  laterClaims:
    "States that webhooks stated later than what `verification` comes from, and that do not rank higher. They move nothing, and set `needsConfirm`",
  needsConfirm:
    "Whether the service should be read to confirm what webhooks claim. That reading is to be recorded even if it says nothing new: only its `read_at` settles the claim",
  country: "Country of the verification, ISO alpha-3",
  phone: "Masked phone number",
  phoneCountry: "Country of the phone, ISO alpha-2",
  banned: "Whether the service banned the user; null when never read",
  createdAt: "Creation time as the service states it, UTC ISO 8601",
  limits: "Spending limits by the latest reading",
  cards: "Saved cards by the latest reading",
  rejectReasons: "Every `reject_type` that webhooks sent, sorted",
  anomalies: "What is odd about the latest reading, sorted by kind, then field",
  verdict: "The one thing to know first",
};

const TRANSITION = {
  key:
    "Permanent id of the transition, for handlers to remember what they did: `order:<id>:confirmed.success`, `order:<id>:release.yes`, `user:<id>:fkyc.confirmed.retry`, and from the second entry on `user:<id>:fkyc.confirmed.retry#2`",
  entity: "Whether it is of an order or a user",
  machine: "The machine that moved",
  id: "Order or user identifier",
  trust: "`claimed` or `confirmed`; of a release that of the order's status",
  status: "The status entered; of a release the status that the order showed",
  entry: "Which entry into this status with this trust it is, from 1",
  previous:
    "What was visible before the event; null when nothing was, and of a release",
  reverses:
    "What is taken back: other final statuses that readings folded earlier had shown; of a release `yes`, where it was logged before",
  logged: "What a release was logged as; null of other machines",
  after:
    "`unchecked`, where a release enters `yes` after subscribers were told of `unchecked`; otherwise empty",
  position: "Position of the event that led there",
  recordedAt:
    "When the ledger learnt that event, UTC ISO 8601 with milliseconds",
  seq: "Place in the log of transitions; ascending, gaps are legal",
  live: "False for imported history",
};

const DELIVERY = {
  id: "Identifier of its event, given at receipt",
  position: "Place in the ledger",
  receivedAt: "When it was received, UTC ISO 8601",
  type: "Type as sent; null when it is quarantined",
  quarantined: "Whether the body is no JSON object with a type",
  orderId: "Order that it names; null when it names none",
  userId: "User that it names; null when it names none",
  clickId: "Click id that it names; null when it names none",
  bytes: "Length of the body in bytes; null when it was erased",
};

const FRESH = "How old the service's last answer about it can be";

/**
 * What the fields of an object are, by the name of its schema: JSON Schema says
 * it of each. The texts are those of the types.
 */
export const FIELD_NOTES: Readonly<
  Record<string, Readonly<Record<string, string>>>
> = {
  Order: ORDER,
  OrderState: ORDER,
  OrderDetail: {
    ...ORDER,
    freshness: FRESH,
    foundBy: "How sure it is that it belongs to the reference",
    releasedByHand: "What a person did about it; null while nobody did",
  },
  RecordedRelease: {
    outcome: "`delivered` or `refunded`",
    by: "Who did it",
    why: "Why",
    for: "Reference of the purchase that was delivered; null where none was " +
      "named",
    at: "When it was recorded",
  },
  FoundBy: {
    trust: "`confirmed` where the service has shown it under the reference, " +
      "`claimed` where only webhooks name it so",
    alsoClaimed: "Other orders that only webhooks name with the reference",
  },
  User: USER,
  UserState: USER,
  UserDetail: { ...USER, freshness: FRESH },
  Transition: TRANSITION,
  Unfired: TRANSITION,
  FiredHistory: {
    transitions: "Transitions from before the ledger went live that it was " +
      "not told of",
    released: "Releases among its transitions that are left out: the goods " +
      "may have been handed over before",
    fired: "How many it will be told of",
  },
  Delivery: DELIVERY,
  DeliveryDetail: {
    ...DELIVERY,
    reasons: "Why it is odd; empty when it is not",
    text: "The body as text; null when it is not UTF-8, or was erased",
    base64: "The bytes of the body; null when it was erased",
  },
  Freshness: {
    requestedAt:
      "When the service was last asked for it, UTC ISO 8601; null is never",
    tier: "Why it is asked for again",
    nextAt:
      "When it is due to be asked for again; null where the cycle decides",
    maxAgeMs:
      "The service's last answer is never older than this while polling goes on, in milliseconds: by the poller's own rate and by what it last counted. It is counted by this machine's clock: where that is set back, what was asked before may be older by as much. Null where nothing can be promised",
    unboundedReason: "Why nothing can be promised; null where something is",
  },
  AttentionItem: {
    kinds: "Why it waits, the gravest first",
    next: "What to do next",
    ageMs:
      "Time since the last change, in ms; null where the service states none",
    order: "The order",
  },
  DeliveryHealth: {
    state: "How it stands, in one word",
    deliverySuspected: "Whether delivery is suspected to be off",
    since: "Since when; null when it is not suspected",
    silentOrders: "Orders that moved and whose webhook is overdue",
    silentSince: "When the first of them moved, UTC ISO 8601; null without any",
    silentOrderIds: "The first of them, at most twenty",
    lastReceivedAt: "Last delivery answered in time; null when none ever was",
    failingSince:
      "Since when deliveries arrive but are not answered in time; else null",
    waitingSince:
      "When the oldest delivery came that was answered and waits to go into the ledger, UTC ISO 8601; null when none waits. Later ones may wait as well",
    countdown:
      "When the service gives up, in both readings; null when nothing fails",
    detail: "The same in one sentence",
  },
  StatisticsPoint: {
    at: "Its first moment, UTC ISO 8601",
    processes:
      "Processes that wrote in it; 0 is a time of which nothing is known",
    answers:
      "Requests to the endpoint by answer; `late` is a 204 that came after the service had given up",
    types:
      "Deliveries that went into the ledger, by documented type, or `other`",
    received: "Deliveries that went into the ledger",
    ordersMoved:
      "Changes of status that the service showed of orders, by the time of the change; null for what is no longer kept, after three days",
    p50Ms:
      "How long half of the deliveries waited for their answer at most, in ms",
    p99Ms: "How long 99 of 100 waited at most, in ms",
    lag: "Events that were not folded yet: the most of the step",
    spooled: "Deliveries that waited in a spool: the most of the step",
    backlogKnown:
      "Known orders and users that waited for a confirming read, at most",
    backlogUnknown: "Those that the service never showed",
    readingAgeMs:
      "Age of the last reading of the service, in ms: the most of the step",
  },
  FeedEntry: {
    ...TRANSITION,
    release:
      "Whether to release the goods by what is known now; null of a user",
    releaseReason: "Why, one code; null of a user",
  },
  TransitionMessage: {
    key: "Permanent id of the transition",
    seq: "Its place in the log: orders what a crash repeated",
    entity: "`order` or `user`",
    machine:
      "The machine that moved: `order` or `release`; `lkyc`, `fkyc` or `ban` of a user",
    id: "Order or user identifier",
    trust: "`claimed` or `confirmed`; of a release that of the order's status",
    status: "The status entered; of a release the status that the order showed",
    entry: "Which entry into this status with this trust it is",
    previous: "What was visible before; null when nothing was",
    reverses:
      "Other final statuses that the service takes back by it; of a release `yes`, where it is taken back",
    logged: "What a release was logged as; null of other machines",
    after: "`unchecked`, where a `yes` follows it: do not ship again",
    release: "Of an order, whether to release the goods by what is known now",
    releaseReason: "Why, one code; null of a user",
    reference: "Of an order, the reference of yours that it was matched with",
    current:
      "Whether `state` still shows the status and trust of the transition",
    state: "The order or user as it is when this is sent; amounts are strings",
    position: "Position of the last event that `state` has in it",
    missed:
      "Keys of earlier transitions that could not be sent, and were given up",
    late:
      "Whether later transitions of the same order or user were sent before",
  },
  AlarmMessage: {
    key: "Permanent id of the message; the same in every attempt",
    area: "What it is about: an alarm of an area replaces the one before",
    code: "What is wrong, or was",
    since: "Since when, UTC ISO 8601",
    clearedAt: "When it was over, UTC ISO 8601; null while it stands",
    environment: "`production` or `sandbox`",
    host: "The machine, where the alarm is about one; else null",
    message: "What is wrong, in one sentence",
    advice: "What to do; null once it is over",
    facts: "Figures and words behind it",
  },
};
