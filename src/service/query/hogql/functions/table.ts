import { arrayFunctions } from "./arrays.ts";
import { conversionFunctions } from "./conversions.ts";
import { dateFunctions } from "./dates.ts";
import { jsonFunctions } from "./json.ts";
import { numberFunctions } from "./numbers.ts";
import type { FunctionRow } from "./row.ts";
import { stringFunctions } from "./strings.ts";

/** The functions of HogQL that are supported. Arguments as in the service: posthog/hogql/functions. */
export const functions: ReadonlyMap<string, FunctionRow> = new Map(
  [
    ...numberFunctions,
    ...stringFunctions,
    ...conversionFunctions,
    ...dateFunctions,
    ...arrayFunctions,
    ...jsonFunctions,
  ].map((row) => [row.name, row] as const),
);

/** Functions that the service finds in any case. Upstream posthog/hogql/functions/mapping.py, `case_sensitive=False`. */
const caseless: ReadonlyMap<string, FunctionRow | undefined> = new Map(
  [
    "abs max2 min2 length reverse not lower upper concat substring ascii position extract replace if exp log ln log2",
    "log10 sqrt sin cos tan asin acos atan pow power sign degrees radians factorial floor ceil trunc round isNull",
    "coalesce ifNull nullIf least greatest now btrim trim",
  ]
    .flatMap((line) => line.split(" "))
    .map((name) => [name.toLowerCase(), functions.get(name)]),
);

export const functionNamed = (name: string): FunctionRow | undefined =>
  functions.get(name) ?? caseless.get(name.toLowerCase());

/** Functions and aggregations of the service that are not emulated, so that they are not called unknown. Upstream the same file. */
export const absentFunctions: readonly string[] = [
  "multiplyDecimal divideDecimal hasSubstr arrayEnumerateUniq arrayEnumerateDense arrayReduce arrayAUC arrayFill",
  "arrayFold arraySplit arrayReverseFill arrayReverseSplit arrayRotateLeft arrayRotateRight arrayCumSumNonNegative",
  "arrayProduct arrayIntersect arrayDifference arrayWithConstant arrayResize hex unhex toDecimal toJSONString",
  "parseDateTime cityHash64 timeZoneOf timeZoneOffset toLastDayOfWeek toStartOfISOYear toTime toWeek toYearWeek age",
  "nowInBlock rowNumberInBlock rowNumberInAllBlocks timeSlot timeSlots toYYYYMMDDhhmmss dateName toModifiedJulianDay",
  "fromModifiedJulianDay isValidUTF8 toValidUTF8 format appendTrailingCharIfAbsent convertCharset base58Encode",
  "base58Decode tryBase58Decode base64Decode tryBase64Decode encodeXMLComponent decodeXMLComponent",
  "extractTextFromHTML positionCaseInsensitiveUTF8 multiSearchAllPositions multiSearchAllPositionsUTF8",
  "multiSearchFirstPosition multiSearchFirstIndex multiSearchAny multiMatchAny multiMatchAnyIndex",
  "multiMatchAllIndices multiFuzzyMatchAny multiFuzzyMatchAnyIndex multiFuzzyMatchAllIndices extractAllGroups",
  "extractAllGroupsHorizontal extractAllGroupsVertical ngramDistance ngramSearch countSubstringsCaseInsensitive",
  "countSubstringsCaseInsensitiveUTF8 regexpExtract translate translateUTF8 e exp2 exp10 erf erfc lgamma tgamma",
  "intExp2 intExp10 cosh acosh sinh asinh atanh atan2 hypot log1p factorial width_bucket roundBankers roundToExp2",
  "roundDuration roundAge roundDown map mapFromArrays mapAdd mapSubtract mapPopulateSeries mapContains mapKeys",
  "mapValues mapContainsKeyLike mapExtractKeyLike mapApply mapFilter mapUpdate splitByRegexp splitByWhitespace",
  "splitByNonAlpha alphaTokens ngrams tokens bitAnd bitOr bitXor bitNot bitShiftLeft bitShiftRight bitRotateLeft",
  "bitRotateRight bitSlice bitTest bitTestAll bitTestAny bitCount bitHammingDistance bitmapBuild bitmapToArray",
  "bitmapContains bitmapHasAny bitmapHasAll bitmapCardinality bitmapMin bitmapMax bitmapTransform bitmapAnd bitmapOr",
  "bitmapXor topLevelDomain firstSignificantSubdomain cutToFirstSignificantSubdomain",
  "cutToFirstSignificantSubdomainWithWWW port queryStringAndFragment extractURLParameters extractURLParameterNames",
  "URLHierarchy URLPathHierarchy encodeURLFormComponent decodeURLFormComponent netloc cutURLParameter JSONArrayLength",
  "JSONType JSONExtractUInt JSONExtractKey JSONExtractKeysAndValues JSONExtractKeysAndValuesRaw JSON_VALUE",
  "greatCircleDistance geoDistance greatCircleAngle pointInEllipses pointInPolygon geohashEncode geohashDecode",
  "geohashesInBox geoToH3 h3ToGeo untuple tupleHammingDistance tupleToNameValuePairs tuplePlus tupleMinus",
  "tupleMultiply tupleDivide tupleNegate tupleMultiplyByNumber tupleDivideByNumber dotProduct ifNotFinite bar",
  "transform formatReadableDecimalSize formatReadableSize formatReadableQuantity formatReadableTimeDelta tumble hop",
  "tumbleStart tumbleEnd hopStart hopEnd L1Norm L2Norm LinfNorm LpNorm L1Distance L2Distance LinfDistance LpDistance",
  "L1Normalize L2Normalize LinfNormalize LpNormalize cosineDistance generateSeries date_part make_timestamp make_date",
  "make_interval make_timestamptz timezone initcap split_part getSurveyResponse uniqueSurveySubmissionsFilter",
  "matchesAction sparkline recording_button explain_csp_report convertCurrency covarPop covarSamp corr json_agg",
  "string_agg every anyHeavy avgWeighted avgArray medianArray groupArrayInsertAt groupArrayMovingAvg",
  "groupArrayMovingSum groupBitAnd groupBitOr groupBitXor groupBitmap groupBitmapAnd groupBitmapOr groupBitmapXor",
  "sumWithOverflow deltaSum deltaSumTimestamp sumMap minMap maxMap avgMap uniqMap countMapIf sumForEach countState",
  "countMerge sumState sumMerge avgState avgMerge uniqState uniqMerge uniqUpToMerge argMinMerge argMaxMerge skewSamp",
  "skewPop kurtSamp kurtPop medianExactLow medianExactHigh medianExactWeighted medianTiming medianTimingWeighted",
  "medianDeterministic medianTDigest medianBFloat16 simpleLinearRegression contingency cramersV cramersVBiasCorrected",
  "theilsU maxIntersections maxIntersectionsPosition windowFunnel md5",
]
  .flatMap((line) => line.split(" "))
  .sort();

const families = /^(?:h3[A-Z]\w+|stringToH3|reinterpretAs\w+|hogql_lookup\w+)$/;

/** True for a function of the service that is not emulated, also with the ending `If`. */
export const isAbsentFunction = (name: string): boolean =>
  absentFunctions.includes(name) || absentFunctions.includes(name.replace(/If$/, "")) || families.test(name);
