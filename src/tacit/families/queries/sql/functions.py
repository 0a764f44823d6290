"""Functions: which ones are computed from their arguments alone, and
which nodes of a tree are plain.

Only functions on these lists are read; any other might draw at random, look at the clock or at
tables that the query does not name.
"""

from __future__ import annotations

from sqlglot import exp

from tacit.families.queries.sql.name_scope import shown


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PURE = _words(
    """
    Abs Acos Acosh AddMonths Array ArrayAppend ArrayConcat ArrayContains ArrayDistinct ArrayMax ArrayMin ArrayPosition
    ArraySize ArraySlice ArraySum ArrayToString Ascii Asin Asinh Atan Atan2 Atanh BitLength Booland Boolnot Boolor Case Cast
    Cbrt Ceil Chr Coalesce Concat ConcatWs Contains Cos Cosh Cot Coth Date DateAdd DateDiff DateFromParts DateStrToDate
    DateSub DateToDateStr DateTrunc Datetime DatetimeAdd DatetimeDiff DatetimeSub DatetimeTrunc Day DayOfMonth DayOfWeek
    DayOfWeekIso DayOfYear Dayname Decode DecodeCase Degrees Encode EndsWith EqualNull Exp Extract Factorial Floor Format
    Greatest Hex Hour If Initcap IsInf IsNan JSONExtract JSONExtractScalar LastDay Least Left Length Levenshtein Ln Log
    Lower MD5 Map Minute Month Monthname MonthsBetween Nanvl Nullif NumberToStr Nvl2 Overlay Pad Pi Pow Quarter Radians
    RegexpCount RegexpExtract RegexpExtractAll RegexpFullMatch RegexpILike RegexpInstr RegexpLike RegexpReplace
    RegexpSplit Repeat Replace Reverse Right Round SHA SHA2 SafeAdd SafeDivide SafeMultiply SafeSubtract Sec Second Sign
    Sin Sinh Soundex Space Split SplitPart Sqrt StartsWith StrPosition StrToDate StrToTime StrToUnix String Struct
    StructExtract Stuff Substring SubstringIndex Tan Tanh Time TimeAdd TimeDiff TimeStrToDate TimeStrToTime TimeSub
    TimeToStr TimeToUnix TimeTrunc Timestamp TimestampAdd TimestampDiff TimestampSub TimestampTrunc ToArray ToBase64
    ToBoolean ToChar ToDays ToDouble ToNumber Translate Trim Trunc Try TryCast TsOrDsAdd TsOrDsDiff TsOrDsToDate
    TsOrDsToDateStr TsOrDsToDatetime TsOrDsToTime TsOrDsToTimestamp Typeof Unhex Unicode UnixDate UnixToStr UnixToTime
    Upper Week WeekOfYear WidthBucket Xor Year YearOfWeek And Or
    """  # noqa: E501
)
AGGREGATES = _words(
    """
    AnyValue ArgMax ArgMin ArrayAgg Avg BitwiseAndAgg BitwiseOrAgg BitwiseXorAgg Corr Count CountIf CovarPop CovarSamp First
    GroupConcat Grouping GroupingId Kurtosis Last LogicalAnd LogicalOr Max Median Min Mode PercentileCont PercentileDisc
    Quantile RegrAvgx RegrAvgy RegrCount RegrIntercept RegrR2 RegrSlope RegrSxx RegrSxy RegrSyy Skewness Stddev StddevPop
    StddevSamp Sum Variance VariancePop
    """  # noqa: E501
)
WINDOWED = _words(
    "CumeDist DenseRank FirstValue Lag LastValue Lead NthValue Ntile PercentRank Rank RowNumber"
)
VOLATILE = _words(
    """
    CurrentCatalog CurrentDatabase CurrentDate CurrentDatetime CurrentRole CurrentSchema CurrentSchemas CurrentSession
    CurrentTime CurrentTimestamp CurrentTimestampLTZ CurrentTimezone CurrentTransaction CurrentUser CurrentUserId
    CurrentVersion GenerateDouble GenerateInt GenerateText Generator Localtime Localtimestamp NextValueFor Normal Rand Randn
    Randstr SessionUser Shuffle Systimestamp Uniform UtcDate UtcTime UtcTimestamp Uuid Zipf
    """  # noqa: E501
)
VOLATILE_NAMES = _words(
    """
    random rand randn now clock_timestamp statement_timestamp transaction_timestamp timeofday setseed gen_random_uuid uuid
    today get_current_time get_current_timestamp nextval currval lastval version pg_backend_pid current_setting txid_current
    current_localtime current_localtimestamp current_query inet_client_addr input_file_name monotonically_increasing_id
    spark_partition_id user current_user session_user current_schema current_database getdate sysdate uuidv4 uuidv7
    """  # noqa: E501
)
PURE_NAMES = _words(
    "isfinite list_value struct_pack strip_accents date_part nvl ifnull left right mod div bool"
)
CLOCK = ("now", "today", "tomorrow", "yesterday", "current_date", "current_timestamp", "allballs")

# What may stand inside an expression that is left to the engine.
PLAIN = _words(
    """
    Add Adjacent Alias All Any Between BitString BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr BitwiseRightShift
    BitwiseXor Boolean Bracket Column Collate DPipe DataType DataTypeParam Distinct Div Dot EQ Escape Filter GT GTE Glob
    HexString ILike Identifier IgnoreNulls In IntDiv Interval IntervalOp IntervalSpan Is JSONPath JSONPathKey JSONPathRoot
    JSONPathSubscript LT LTE Like Literal Mod Mul NEQ Neg Not Null NullSafeEQ NullSafeNEQ Order Ordered Overlaps Paren
    PropertyEQ RawString RespectNulls SimilarTo Slice Star Sub Tuple Var WeekStart Where WithinGroup Exists HavingMax
    """  # noqa: E501
)

OF_CODE = {
    "like": (
        "Like ILike SimilarTo Glob RegexpLike RegexpILike RegexpFullMatch StartsWith EndsWith "
        "Contains Escape"
    ),
    "arithmetic": (
        "Add Sub Mul Div IntDiv Mod Neg DPipe BitwiseAnd BitwiseOr BitwiseXor BitwiseNot "
        "BitwiseLeftShift BitwiseRightShift Concat Interval Overlaps"
    ),
    "case": "Case If Coalesce Nullif Greatest Least DecodeCase Nvl2",
    "cast": "Cast TryCast ToNumber ToChar ToDouble ToBoolean TsOrDsToDate",
    "scalar-subquery": "Subquery Select Any All",
    "window": "Window",
}
CODES = {name: code for code, names in OF_CODE.items() for name in names.split()}


def code_of(node: exp.Expr) -> str:
    """The code of an expression that is left to the engine."""
    name = type(node).__name__
    if name in AGGREGATES or isinstance(node, exp.Filter | exp.WithinGroup):
        return "aggregate"
    return CODES.get(
        name,
        "condition" if isinstance(node, exp.Predicate | exp.Connector | exp.Not) else "function",
    )


def refusal(node: exp.Expr, dialect: str) -> tuple[str, str] | None:
    """Why a node cannot stand in a query: a code and words; None where it can."""
    name = type(node).__name__
    if isinstance(node, exp.Parameter | exp.Placeholder | exp.SessionParameter):
        return "parameter", "a parameter has no value here"
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        called = str(node.name).lower()
        if called in VOLATILE_NAMES:
            return "volatile-function", f"{called}() does not depend on the data alone"
        if called in PURE_NAMES and isinstance(node, exp.Anonymous):
            return None
        return "unknown-function", f"{called}() is not a function that Tacit knows"
    if name in VOLATILE:
        return "volatile-function", f"{shown(node, dialect)} does not depend on the data alone"
    if (
        name in PURE
        and isinstance(node, exp.Func)
        and not any(node.args.values())
        and name not in ("Pi", "Array", "Map")
    ):
        return "unknown-function", f"{shown(node, dialect)} without arguments may look at the clock"
    if (
        isinstance(node, exp.Cast)
        and isinstance(node.this, exp.Literal)
        and str(node.this.this).lower().strip() in CLOCK
    ):
        return "volatile-function", f"{shown(node, dialect)} looks at the clock"
    if name in PURE | AGGREGATES | WINDOWED | PLAIN:
        return None
    if isinstance(node, exp.Func):
        return (
            "unknown-function",
            f"{shown(node, dialect).split('(')[0].lower()}() is not a function that Tacit knows",
        )
    return "not-read", f"{node.key.upper()} is not something that Tacit reads"


def is_aggregate(node: exp.Expr) -> bool:
    """Is an aggregate called here, outside of subqueries and not as a window?"""
    if isinstance(node, exp.Query | exp.Subquery):
        return False
    if isinstance(node, exp.Window):
        return any(
            is_aggregate(one)
            for part in node.iter_expressions()
            for one in (part.iter_expressions() if part is node.this else [part])
        )
    return isinstance(node, exp.AggFunc) or any(map(is_aggregate, node.iter_expressions()))


def is_windowed(node: exp.Expr) -> bool:
    """Is there a window, outside of subqueries?"""
    if isinstance(node, exp.Query | exp.Subquery):
        return False
    return isinstance(node, exp.Window) or any(map(is_windowed, node.iter_expressions()))
