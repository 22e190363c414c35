/** Functions that the service finds in any case. Upstream posthog/hogql/functions/mapping.py, `case_sensitive=False`. */
export const caselessNames: readonly string[] = [
  ..."abs max2 min2 length reverse not lower upper concat substring ascii position extract replace if".split(" "),
  ..."exp log ln log2 log10 sqrt sin cos tan asin acos atan pow power sign degrees radians factorial".split(" "),
  ..."floor ceil trunc round isNull coalesce ifNull nullIf least greatest now btrim trim".split(" "),
];

/**
 * Names of the service's functions, aggregations included, so that one that is not emulated is not called unknown.
 * Upstream the same file.
 */
const serviceNames: readonly string[] = [
  "multiplyDecimal divideDecimal hasSubstr arrayEnumerateUniq arrayJoin arrayEnumerateDense arrayReduce",
  "arrayAUC arrayFill arrayFold arraySplit arrayReverseFill arrayReverseSplit arrayRotateLeft arrayRotateRight",
  "arrayCumSumNonNegative arrayProduct arrayIntersect arrayDifference arrayCompact arrayWithConstant arrayResize",
  "arrayPushBack arrayPushFront arrayPopBack arrayPopFront arrayCount countEqual arrayEnumerate arrayUniq",
  "hex unhex toDecimal toJSONString parseDateTime parseDateTimeBestEffort cityHash64 timeZoneOf timeZoneOffset",
  "toLastDayOfMonth toLastDayOfWeek toStartOfISOYear toTime toISOYear toISOWeek toWeek toYearWeek age nowInBlock",
  "rowNumberInBlock rowNumberInAllBlocks timeSlot timeSlots toYYYYMM toYYYYMMDD toYYYYMMDDhhmmss dateName monthName",
  "toModifiedJulianDay fromModifiedJulianDay leftPad rightPad leftPadUTF8 rightPadUTF8 lowerUTF8 upperUTF8",
  "isValidUTF8 toValidUTF8 repeat format reverseUTF8 substringUTF8 appendTrailingCharIfAbsent convertCharset",
  "base58Encode base58Decode tryBase58Decode base64Encode base64Decode tryBase64Decode encodeXMLComponent",
  "decodeXMLComponent extractTextFromHTML concatWithSeparator positionCaseInsensitive positionUTF8",
  "positionCaseInsensitiveUTF8 multiSearchAllPositions multiSearchAllPositionsUTF8 multiSearchFirstPosition",
  "multiSearchFirstIndex multiSearchAny multiMatchAny multiMatchAnyIndex multiMatchAllIndices multiFuzzyMatchAny",
  "multiFuzzyMatchAnyIndex multiFuzzyMatchAllIndices extractAllGroups extractAllGroupsHorizontal",
  "extractAllGroupsVertical ngramDistance ngramSearch countSubstrings countSubstringsCaseInsensitive",
  "countSubstringsCaseInsensitiveUTF8 countMatches regexpExtract regexpQuoteMeta translate translateUTF8",
  "e exp2 exp10 cbrt erf erfc lgamma tgamma intExp2 intExp10 cosh acosh sinh asinh atanh atan2 hypot log1p",
  "factorial width_bucket roundBankers roundToExp2 roundDuration roundAge roundDown",
  "map mapFromArrays mapAdd mapSubtract mapPopulateSeries mapContains mapKeys mapValues mapContainsKeyLike",
  "mapExtractKeyLike mapApply mapFilter mapUpdate splitByRegexp splitByWhitespace splitByNonAlpha alphaTokens",
  "ngrams tokens bitAnd bitOr bitXor bitNot bitShiftLeft bitShiftRight bitRotateLeft bitRotateRight bitSlice",
  "bitTest bitTestAll bitTestAny bitCount bitHammingDistance bitmapBuild bitmapToArray bitmapContains",
  "bitmapHasAny bitmapHasAll bitmapCardinality bitmapMin bitmapMax bitmapTransform bitmapAnd bitmapOr bitmapXor",
  "protocol domain domainWithoutWWW topLevelDomain firstSignificantSubdomain cutToFirstSignificantSubdomain",
  "cutToFirstSignificantSubdomainWithWWW port path pathFull queryString fragment queryStringAndFragment",
  "extractURLParameter extractURLParameters extractURLParameterNames URLHierarchy URLPathHierarchy",
  "encodeURLComponent decodeURLComponent encodeURLFormComponent decodeURLFormComponent netloc cutWWW",
  "cutQueryString cutFragment cutQueryStringAndFragment cutURLParameter JSONArrayLength JSONType JSONExtractUInt",
  "JSONExtractKey JSONExtractKeysAndValues JSONExtractKeysAndValuesRaw JSON_VALUE greatCircleDistance geoDistance",
  "greatCircleAngle pointInEllipses pointInPolygon geohashEncode geohashDecode geohashesInBox geoToH3 h3ToGeo",
  "untuple tupleHammingDistance tupleToNameValuePairs tuplePlus tupleMinus tupleMultiply tupleDivide tupleNegate",
  "tupleMultiplyByNumber tupleDivideByNumber dotProduct isFinite isInfinite ifNotFinite isNaN bar transform",
  "formatReadableDecimalSize formatReadableSize formatReadableQuantity formatReadableTimeDelta tumble hop",
  "tumbleStart tumbleEnd hopStart hopEnd L1Norm L2Norm LinfNorm LpNorm L1Distance L2Distance LinfDistance",
  "LpDistance L1Normalize L2Normalize LinfNormalize LpNormalize cosineDistance rank dense_rank row_number",
  "first_value last_value nth_value lagInFrame leadInFrame lag lead generateSeries date_part make_timestamp",
  "make_date make_interval make_timestamptz timezone initcap lpad rpad ltrim rtrim split_part getSurveyResponse",
  "uniqueSurveySubmissionsFilter matchesAction sparkline recording_button explain_csp_report convertCurrency",
  "covarPop covarSamp corr json_agg string_agg every anyHeavy avgWeighted avgArray medianArray groupArrayInsertAt",
  "groupArrayMovingAvg groupArrayMovingSum groupBitAnd groupBitOr groupBitXor groupBitmap groupBitmapAnd",
  "groupBitmapOr groupBitmapXor sumWithOverflow deltaSum deltaSumTimestamp sumMap minMap maxMap avgMap uniqMap",
  "countMapIf sumForEach countState countMerge sumState sumMerge avgState avgMerge uniqState uniqMerge",
  "uniqUpToMerge argMinMerge argMaxMerge skewSamp skewPop kurtSamp kurtPop medianExactLow medianExactHigh",
  "medianExactWeighted medianTiming medianTimingWeighted medianDeterministic medianTDigest medianBFloat16",
  "simpleLinearRegression contingency cramersV cramersVBiasCorrected theilsU maxIntersections",
  "maxIntersectionsPosition windowFunnel md5",
].flatMap((line) => line.split(" "));

/** Of the service's functions those that are not in `known`; also with the ending `If`, `hogql_…` and `h3…`. */
export function createAbsence(known: (name: string) => boolean) {
  const names = [...new Set(serviceNames)].filter((name) => !known(name)).sort();
  const all = new Set(names);
  const family = /^(?:h3[A-Z]\w+|stringToH3|reinterpretAs\w+|hogql_lookup\w+)$/;
  return {
    /** For the documentation. */
    names,
    has: (name: string): boolean => all.has(name) || all.has(name.replace(/If$/, "")) || family.test(name),
  };
}
