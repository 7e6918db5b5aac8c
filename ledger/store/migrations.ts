import { leasesSchema } from "./tables/leases.ts";
import { observationsSchema } from "./tables/polling/observations.ts";
import { isolatedIdsSchema } from "./tables/polling/isolated_ids.ts";
import { observedChangesSchema } from "./tables/polling/observed_changes.ts";
import { sweepsSchema } from "./tables/polling/sweeps.ts";
import { checkpointsSchema } from "./tables/checkpoints.ts";
import { importedSchema } from "./tables/imported.ts";
import { moversSchema } from "./tables/deliveries.ts";
import { linkSearch, linksSchema } from "./tables/links.ts";
import { orderAttention, orderSearch, ordersSchema } from "./tables/orders.ts";
import {
  machineQueuedTransitions,
  passedTransitions,
  queuedTransitionsSchema,
} from "./tables/subscriptions/queued_transitions.ts";
import { requestQueuesSchema } from "./tables/polling/request_queues.ts";
import {
  subscriptionRevisions,
  subscriptionsSchema,
} from "./tables/subscriptions/subscriptions.ts";
import { machineTransitions, transitionsSchema } from "./tables/transitions.ts";
import { unansweredSchema } from "./tables/unanswered.ts";
import { erasuresSchema } from "./tables/erasure/erasures.ts";
import { forwardTargetsSchema } from "./tables/subscriptions/forward_targets.ts";
import { minutesSchema } from "./tables/minutes.ts";
import { notesSchema } from "./tables/notes.ts";
import { usersSchema } from "./tables/users.ts";
import type { Migration } from "./migrate.ts";
import { chainSchema } from "./tables/chain.ts";
import { eventsSchema } from "./tables/events.ts";

/** Every step from an empty database to the schema of this version. */
export const migrations: readonly Migration[] = [
  {
    version: 1,
    statements: [
      ...eventsSchema,
      ...chainSchema,
      ...checkpointsSchema,
      ...ordersSchema,
      ...usersSchema,
      ...linksSchema,
      ...transitionsSchema,
      ...requestQueuesSchema,
      ...unansweredSchema,
      ...importedSchema,
      ...subscriptionsSchema,
      ...queuedTransitionsSchema,
      ...observationsSchema,
      ...isolatedIdsSchema,
      ...sweepsSchema,
      ...leasesSchema,
      ...observedChangesSchema,
    ],
  },
  {
    version: 2,
    statements: [...machineTransitions, ...machineQueuedTransitions],
  },
  { version: 3, statements: [...orderSearch, ...linkSearch] },
  { version: 4, statements: [...moversSchema] },
  {
    version: 5,
    statements: [
      ...erasuresSchema,
      ...subscriptionRevisions,
      ...passedTransitions,
      ...forwardTargetsSchema,
      ...minutesSchema,
      ...notesSchema,
      ...orderAttention,
    ],
  },
];
