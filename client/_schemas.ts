import { z } from "zod";
import type { Order } from "./order.ts";
import type { User } from "./user.ts";

// Numbers have become decimal strings before these schemas look at them.
export const text = z.string().nullable().exactOptional();
export const decimal = z.string().regex(
  /^(?:-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)?$/,
  "is no decimal",
).nullable().exactOptional();

export const orderSchema = z.looseObject({
  order_id: z.string().min(1),
  status: z.string().min(1),
  click_id: text,
  external_order_id: text,
  currency: text,
  currency_amount: decimal,
  crypto: text,
  crypto_amount: decimal,
  user_id: text,
  card_id: text,
  created_at: text,
  changed_at: text,
  partner_fee: decimal,
  partner_fee_percent: decimal,
  service_fee: decimal,
  service_fee_percent: decimal,
  tx_id: text,
  processed_through: text,
  card_brand: text,
  fail_reason: text,
  payment_type: text,
  additional_data: z.unknown().optional(),
  address: text,
  sc_input_data: text,
});

export const userSchema = z.looseObject({
  user_id: z.string().min(1),
  country: text,
  phone: text,
  phone_country: text,
  lkyc_status: text,
  fkyc_status: text,
  banned: z.boolean().nullable().exactOptional(),
  created_at: text,
  limits: z.looseObject({
    crypto_remaining: decimal,
    crypto_spending: decimal,
    digital_goods_remaining: decimal,
    digital_goods_spending: decimal,
  }).nullable().exactOptional(),
  linked_payment_methods: z.array(z.looseObject({
    method: text,
    cards: z.array(z.looseObject({
      brand: text,
      card_id: text,
      created_at: text,
      last_digits: text,
    })).nullable().exactOptional(),
  })).nullable().exactOptional(),
});

const listFields = {
  success: z.literal(true).optional(),
  next_cursor_id: text,
  // A wrong total is a warning of the walk, never a fault of the page.
  total: z.unknown().optional(),
};

export const ordersSchema = z.looseObject({
  ...listFields,
  data: z.array(orderSchema),
});

export const usersSchema = z.looseObject({
  ...listFields,
  data: z.array(userSchema),
});

export const sessionSchema = z.looseObject({
  sessionId: z.string().min(1),
  requestId: text,
});

export const createdUserSchema = z.looseObject({
  user_id: z.string().min(1),
  created_at: z.string(),
});

export const registeredCardSchema = z.looseObject({
  card_id: z.string().min(1),
});

/** The fields a type names, without the unknown ones it lets through. */
type Named<T> = keyof {
  [K in keyof T as string extends K ? never : K]: T[K];
};
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;

true satisfies Same<Named<Order>, Named<z.infer<typeof orderSchema>>>;
true satisfies Same<Named<User>, Named<z.infer<typeof userSchema>>>;
true satisfies z.infer<typeof orderSchema> extends Order ? true : false;
true satisfies z.infer<typeof userSchema> extends User ? true : false;
