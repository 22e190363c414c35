/** A key of a distinct id and its number. A quote within a string is escaped, so that this is no part of a string. */
const idNumber = /([{,]\s*"\$?distinct_id"\s*:\s*)(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)(?=\s*[,}])/g;

const [lowest, highest] = [-(2n ** 63n), 2n ** 64n - 1n];

/** Shortest digits of a float and its exponent: value = 0.digits × 10^point. */
function digitsOf(value: number): { digits: string; point: number } {
  const [mantissa = "", exponent = "0"] = value.toExponential().split("e");
  return { digits: mantissa.replace(".", ""), point: Number(exponent) + 1 };
}

/** A float as the service writes it: `1e20`, `100.0`, `1.5e-7`. Rust's ryu, which serde_json uses. */
function floatText(value: number): string {
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const sign = value < 0 ? "-" : "";
  const { digits, point } = digitsOf(Math.abs(value));
  if (point > 16 || point <= -5) {
    const rest = digits.length > 1 ? `.${digits.slice(1)}` : "";
    return `${sign}${digits.charAt(0)}${rest}e${point - 1}`;
  }
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (digits.length <= point) return `${sign}${digits}${"0".repeat(point - digits.length)}.0`;
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** A number of JSON as the service writes it. */
function numberText(number: string): string {
  if (/^-?\d+$/.test(number) && number !== "-0") {
    const whole = BigInt(number);
    if (whole >= lowest && whole <= highest) return String(whole);
  }
  return floatText(Number(number));
}

/**
 * JSON whose distinct ids are numbers which JSON.parse does not keep exactly, with those as text; undefined if it has
 * none.
 */
export function withExactIds(text: string): string | undefined {
  if (!text.includes('distinct_id"')) return undefined;
  let isChanged = false;
  const exact = text.replace(idNumber, (whole, before: string, number: string) => {
    const shown = numberText(number);
    if (shown === String(Number(number)) || !Number.isFinite(Number(number))) return whole;
    isChanged = true;
    return `${before}"${shown}"`;
  });
  return isChanged ? exact : undefined;
}
