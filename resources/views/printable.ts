export {
  isPrintable,
  printable,
  printableJson,
  printableLines,
} from "../../core/printable.ts";
