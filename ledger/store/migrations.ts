import { leasesSchema } from "./tables/leases.ts";
import { observationsSchema } from "./tables/polling/observations.ts";
import { isolatedIdsSchema } from "./tables/polling/isolated_ids.ts";
import { observedChangesSchema } from "./tables/polling/observed_changes.ts";
import { sweepsSchema } from "./tables/polling/sweeps.ts";
import { checkpointsSchema } from "./tables/checkpoints.ts";
import { importedSchema } from "./tables/imported.ts";
import {
  moversSchema,
  receivedSchema,
  unansweredSchema,
} from "./tables/deliveries.ts";
import { expectationsSchema } from "./tables/events/expectations.ts";
import { linksSchema } from "./tables/events/links.ts";
import {
  amountOrderSchema8,
  attentionSchema8,
  capitalsOfLinks,
  linksMadeAnew,
  linksSchema1,
  listedOrdersSchema7,
  madeAnew,
  orderCasesSchema,
  ordersSchema4,
  placeOfFormer,
  requestsSchema2,
  STATE_COLUMNS_OF_FORMER,
  statesSchema1,
  usersSchema4,
} from "./former_schemas.ts";
import { msSql } from "./tables/stored_times.ts";
import { orderKeySql, ordersSchema } from "./tables/orders.ts";
import { queuedTransitionsSchema } from "./tables/subscriptions/queued_transitions.ts";
import { releaseDeliveriesSchema } from "./tables/subscriptions/release_deliveries.ts";
import {
  earlierQueuesSchema,
  moveEarlierQueues,
} from "./tables/polling/earlier_queues.ts";
import { requestsSchema } from "./tables/polling/request_queues.ts";
import { firstEventOf } from "./tables/polling/request_places.ts";
import { subscriptionsSchema } from "./tables/subscriptions/subscriptions.ts";
import { historicSchema } from "./tables/go_live.ts";
import { purchasesSchema } from "./tables/purchases.ts";
import { transitionsSchema } from "./tables/transitions.ts";
import { erasedValuesSchema } from "./tables/erasure/erased_values.ts";
import { erasuresSchema } from "./tables/erasure/erasures.ts";
import { forwardTargetsSchema } from "./tables/subscriptions/forward_targets.ts";
import { minutesSchema } from "./tables/minutes.ts";
import { notesSchema } from "./tables/notes.ts";
import { usersSchema } from "./tables/users.ts";
import type { Migration } from "./migrate.ts";
import { chainSchema } from "./tables/chain.ts";
import { eventsSchema } from "./tables/events/events.ts";

/** What version 9 takes over as it is of an order or user of before. */
function takenOver(table: keyof typeof STATE_COLUMNS_OF_FORMER): string[] {
  return [
    "generation",
    "place",
    ...STATE_COLUMNS_OF_FORMER[table].filter((column) => column !== "sort_at"),
  ];
}

/** The number of a time that stood there as a text; 1970 of none. */
const sortMs = `coalesce(${msSql("f.sort_at")}, 0)`;

/** The first event that names what a former row of `requests` does. */
const placeOfRequest = `CASE f.entity WHEN 'order' THEN ${
  firstEventOf("order", "f.entity_id")
} ELSE ${firstEventOf("user", "f.entity_id")} END`;

/**
 * Every step from an empty database to the schema of this version. A published
 * step is never edited: a change of a table is a further step.
 */
export const migrations: readonly Migration[] = [
  {
    version: 1,
    statements: [
      ...eventsSchema,
      ...chainSchema,
      ...checkpointsSchema,
      ...statesSchema1,
      ...linksSchema1,
      ...expectationsSchema,
      ...transitionsSchema,
      ...purchasesSchema,
      ...historicSchema,
      ...earlierQueuesSchema,
      ...unansweredSchema,
      ...importedSchema,
      ...subscriptionsSchema,
      ...queuedTransitionsSchema,
      ...releaseDeliveriesSchema,
      ...forwardTargetsSchema,
      ...observationsSchema,
      ...isolatedIdsSchema,
      ...observedChangesSchema,
      ...sweepsSchema,
      ...leasesSchema,
      ...moversSchema,
      ...erasuresSchema,
      ...erasedValuesSchema,
      ...minutesSchema,
      ...notesSchema,
    ],
  },
  { version: 2, statements: [...requestsSchema2, ...moveEarlierQueues] },
  { version: 3, statements: orderCasesSchema },
  {
    version: 4,
    statements: [
      ...madeAnew("orders", ordersSchema4, [
        "generation",
        ...STATE_COLUMNS_OF_FORMER.orders,
      ], {
        place: placeOfFormer("order_id"),
        row: orderKeySql("f.generation", placeOfFormer("order_id")),
      }),
      ...madeAnew("users", usersSchema4, [
        "generation",
        ...STATE_COLUMNS_OF_FORMER.users,
      ], { place: placeOfFormer("user_id") }),
    ],
  },
  { version: 5, statements: linksMadeAnew(linksSchema) },
  {
    version: 6,
    statements: madeAnew("requests", requestsSchema, [
      "seq",
      "queue",
      "entity",
      "urgency",
      "claimed_by",
      "known",
      "ready",
      "wanted_at",
      "due_at",
      "final_at",
    ], {
      place: placeOfRequest,
      entity_id: `iif(${placeOfRequest} IS NULL, f.entity_id, NULL)`,
    }),
  },
  { version: 7, statements: listedOrdersSchema7 },
  {
    version: 8,
    statements: [
      ...amountOrderSchema8,
      ...attentionSchema8,
      ...receivedSchema,
      ...capitalsOfLinks,
    ],
  },
  {
    version: 9,
    statements: [
      ...madeAnew("orders", ordersSchema, [
        "row",
        ...takenOver("orders"),
        ...["network", "currency", "amount", "outcome"],
      ], { sort_at: sortMs }),
      ...madeAnew("users", usersSchema, takenOver("users"), {
        sort_at: sortMs,
      }),
    ],
  },
];
