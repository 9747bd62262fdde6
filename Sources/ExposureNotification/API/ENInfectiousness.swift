/// How infectious a person was on the day of an encounter.
@frozen public enum ENInfectiousness: UInt32, Sendable {
  /// Not at all: the encounter does not count.
  case none = 0
  /// As most are.
  case standard = 1
  /// More than most.
  case high = 2
}
