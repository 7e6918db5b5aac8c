import { type Command, Option } from "commander";
import { orderedWindow } from "../../program/options.ts";
import {
  ORDER_FILTER_NAMES,
  ORDER_FILTERS,
  type OrderFilterName,
} from "../../../resources/queries/order_filters.ts";

/** So many words are listed in the help and completed by a shell. */
const SHOWN = 4;

/**
 * Adds the flags that choose orders.
 *
 * @param except A filter that the command does not have, or not as a filter.
 */
export function filterOptions(
  command: Command,
  except?: OrderFilterName,
): Command {
  for (const name of ORDER_FILTER_NAMES) {
    if (name === except) continue;
    const { operand, description, schema, read } = ORDER_FILTERS[name];
    const flag = new Option(
      `--${name} ${operand}`,
      description.charAt(0).toLowerCase() + description.slice(1),
    );
    const words = Array.isArray(schema.enum) ? schema.enum : [];
    if (words.length > 0 && words.length <= SHOWN) flag.choices(words);
    command.addOption(
      flag.argParser((text: string): unknown => read(`--${name}`, text)),
    );
  }
  return orderedWindow(command);
}
