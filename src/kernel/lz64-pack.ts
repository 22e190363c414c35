const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Codes that announce a new character of 8 and of 16 bits, and the end; see lz64.ts for the format. */
const [narrow, wide, end] = [0, 1, 2];

/** Collects numbers, least significant bit first, into base64 characters, most significant bit first. */
function bitWriter() {
  const chars: string[] = [];
  let value = 0;
  let filled = 0;
  const put = (bit: number): void => {
    value = (value << 1) | bit;
    filled++;
    if (filled < 6) return;
    chars.push(alphabet[value] ?? "");
    value = 0;
    filled = 0;
  };
  return {
    write(number: number, width: number): void {
      for (let bit = 0; bit < width; bit++) put((number >>> bit) & 1);
    },
    text(): string {
      while (filled !== 0) put(0);
      return chars.join("").padEnd(Math.ceil(chars.length / 4) * 4, "=");
    },
  };
}

/**
 * Text in the base64 form of lz-string: every unpacker reads it. It spells each character out instead of pointing at
 * earlier ones, so it is valid and not small: it is for sending again what very old clients sent, no more.
 */
export function packLz64(text: string): string {
  const bits = bitWriter();
  let pieces = 0;
  const width = (): number => (pieces === 0 ? 2 : Math.max(3, 32 - Math.clz32(3 + pieces)));
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    bits.write(unit < 256 ? narrow : wide, width());
    bits.write(unit, unit < 256 ? 8 : 16);
    // Each one adds itself to the dictionary, and all but the first what was there before it with its first unit.
    pieces += i === 0 ? 1 : 2;
  }
  bits.write(end, width());
  return bits.text();
}
