import { useState } from "preact/hooks";
import { bodyOf, decodeChain, type RequestInFull } from "../../api/requests.ts";
import { Button, Code, Section } from "../../parts/basics.tsx";
import { sizeText } from "../../parts/text.ts";
import { PayloadTree } from "../../parts/tree/tree.tsx";
import { type HexLine, mostBytes, type RawView, rawView } from "./decoding.ts";

/** What was sent: decoded, or as it came. */
export function Body({ request }: { request: RequestInFull }) {
  const raw = rawView(request);
  const [isRaw, setRaw] = useState(false);
  const chain = decodeChain(request);
  const body = bodyOf(request);
  const hasBody = body !== null;
  if (!hasBody && raw.is === "none")
    return (
      <Section title="Request body">
        <p class="muted">None was sent.</p>
      </Section>
    );
  return (
    <Section
      title="Request body"
      actions={
        hasBody &&
        raw.is !== "none" && (
          <span class="requests-switch">
            <Button isPressed={!isRaw} onClick={() => setRaw(false)}>
              Decoded
            </Button>
            <Button isPressed={isRaw} onClick={() => setRaw(true)}>
              As it came
            </Button>
          </span>
        )
      }
    >
      <p class="requests-chain">
        {chain.map((step, i) => (
          <span key={`${i} ${step}`}>{step}</span>
        ))}
      </p>
      {hasBody && !isRaw ? (
        <PayloadTree value={body} label="Request body" search open={3} />
      ) : (
        <Raw raw={raw} />
      )}
    </Section>
  );
}

function Raw({ raw }: { raw: RawView }) {
  if (raw.is === "none") return null;
  if (raw.is === "text") return <Code text={raw.text} />;
  if (raw.is === "omitted")
    return (
      <p class="muted">
        {sizeText(raw.bytes)} were sent. They are not kept: {raw.why}.
      </p>
    );
  return (
    <>
      <Hex lines={raw.lines} />
      <p class="muted">
        {raw.bytes > mostBytes
          ? `The first ${sizeText(mostBytes)} of ${sizeText(raw.bytes)}.`
          : `${sizeText(raw.bytes)}.`}
      </p>
    </>
  );
}

function hexText(lines: readonly HexLine[]): string {
  const width = Math.max(0, ...lines.map((it) => it.hex.length));
  return lines.map(({ offset, hex, text }) => `${offset}  ${hex.padEnd(width)}  ${text}`).join("\n");
}

const Hex = ({ lines }: { lines: readonly HexLine[] }) => <Code text={hexText(lines)} />;
