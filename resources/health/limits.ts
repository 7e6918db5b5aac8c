/** The limits beyond which something is wrong, each of them once. */
export const LIMITS = {
  /** How long an answered delivery may wait for the ledger, ms. */
  deliveryWaitsMs: 60_000,
  /** How long what a webhook named may wait for a confirming read, ms. */
  confirmationWaitsMs: 15 * 60_000,
  /** How long a poller may be silent; at work it reports every 30 s. In ms. */
  pollerSilentMs: 180_000,
  /** How old answers of the service may be without a working poller, ms. */
  answerOldMs: 3_600_000,
  /** How long crons may not have run where they poll; they do each minute. In ms. */
  cronSilentMs: 5 * 60_000,
  /** How many events may wait to be folded. */
  eventsNotFolded: 1000,
  /** How much of the disk must be free: a day of deliveries at a small shop. */
  diskFreeBytes: 256 * 1024 * 1024,
  /** A disk with less than this is full. */
  diskFullBytes: 1024 * 1024,
  /** Age beyond which refused requests are not reported, ms. */
  refusedAgoMs: 24 * 3_600_000,
  /** Age beyond which drift is not reported, ms. */
  driftAgoMs: 24 * 3_600_000,
  /** How often backups are due unless a setting says otherwise, ms. */
  backupEveryMs: 12 * 3_600_000,
  /** How many times that interval the newest backup may be old. */
  backupsMissed: 2,
  /** How long the service waits for the answer to a webhook, ms. */
  answerMs: 5000,
  /** How much a clock may differ from the service's, ms. */
  clockOffMs: 5000,
  /** Beyond this difference the times that the service states are not used, ms. */
  clockWrongMs: 120_000,
  /** How long a finding of another process holds, ms. */
  reportedMs: 120_000,
} as const;
