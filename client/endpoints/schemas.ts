// The small form of zod: `import { z } from "zod"` brings every language's
// messages into a bundle.
import * as z from "zod/mini";

const filledText = z.string().check(z.minLength(1));
const textOrNone = z.optional(z.nullable(z.string()));

/** The envelope of a page; its rows are read one by one. */
export const listSchema = z.looseObject({
  success: z.optional(z.literal(true)),
  next_cursor_id: textOrNone,
  // A wrong total is a warning of the walk, never a fault of the page.
  total: z.optional(z.unknown()),
  data: z.array(z.unknown()),
});

/** The answer to a session that was created. */
export const sessionSchema = z.looseObject({
  sessionId: filledText,
  requestId: textOrNone,
});

/** The answer to a user that was created. */
export const createdUserSchema = z.looseObject({
  user_id: filledText,
  created_at: z.string(),
});

/** The answer to a card that was registered. */
export const registeredCardSchema = z.looseObject({ card_id: filledText });
