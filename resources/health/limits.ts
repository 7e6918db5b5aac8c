/** Beyond which figures something is wrong: each stands here and nowhere else. */
export const LIMITS = {
  /** An answered delivery is in the ledger within seconds, ms. */
  deliveryWaitsMs: 60_000,
  /** What webhooks named is asked about within seconds, or minutes in a rush, ms. */
  confirmationWaitsMs: 15 * 60_000,
  /** A poller at work reports every 30 seconds; a silent one is stuck, ms. */
  pollerSilentMs: 180_000,
  /** Without a poller at work, older answers of the service are worth a word, ms. */
  answerOldMs: 3_600_000,
  /** So many events may wait to be folded. */
  eventsNotFolded: 1000,
  /** Less than this is nearly nothing: a day of deliveries at a small shop. */
  diskFreeBytes: 256 * 1024 * 1024,
  /** Refused requests longer ago say nothing about today, ms. */
  refusedAgoMs: 24 * 3_600_000,
  /** What was met longer ago than this is no news, ms. */
  driftAgoMs: 24 * 3_600_000,
  /** How often backups are due where nobody has said it, ms. */
  backupEveryMs: 12 * 3_600_000,
  /** The newest backup may be so many times as old as one is due. */
  backupsMissed: 2,
  /** The service gives a webhook up after this long, ms. */
  answerMs: 5000,
  /** A clock may differ from the service's by this, ms. */
  clockOffMs: 5000,
  /** Beyond this the times that the service states are not believed, ms. */
  clockWrongMs: 120_000,
  /** What another process found is true for this long, ms. */
  reportedMs: 120_000,
} as const;
