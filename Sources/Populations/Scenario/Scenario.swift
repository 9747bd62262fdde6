// SPDX-License-Identifier: Apache-2.0
import Foundation

/// A question to a simulated population: who meets whom, how an infection spreads, and who has the app.
public struct Scenario: Hashable, Sendable {
  /// The source of the contacts.
  public enum Contacts: Hashable, Sendable {
    /// Generated contacts of this many people.
    case generated(people: Int)
    /// A recording: the path of the file, the seconds of each line, and the distance in metres of lines without one.
    case recorded(file: String, secondsPerLine: Int, metres: Double)
  }

  /// The title of the report.
  public var name = "Population"
  /// The first day, 00:00 UTC, in seconds since 1970.
  public var start: Int64 = 1_772_409_600
  /// The number of days.
  public var days = 28
  /// The contacts.
  public var contacts = Contacts.generated(people: 1_000)
  /// The shares of people with the app; one run for each.
  public var adoption = [0.6]
  /// The number of people who are infected at the start.
  public var firstCases = 5
  /// The course of an infection.
  public var disease = Disease()
  /// The decisions of people.
  public var behaviour = Behaviour()
  /// The radio between phones.
  public var radio = PathLoss.measured
  /// The app and its servers.
  public var app = App()
  /// The contacts that count as close.
  public var closeContact = CloseContact()

  /// The app and its servers.
  public struct App: Hashable, Sendable {
    /// The hours between two key files, one of `ScenarioLimit.exportHours`.
    public var exportHours = 24
    /// The keys that a key file has at least, with padding.
    public var minimumKeys = 200
    /// The largest number of times that one scan receives another phone.
    public var receptionsPerScan = 3

    /// The default.
    public init() {}
  }

  /// The contact that an alert should tell of: this long and this near on one day.
  public struct CloseContact: Hashable, Sendable {
    /// The largest distance in metres.
    public var metres = 2.0
    /// The least minutes of a day.
    public var minutes = 15.0

    /// The definition of most health authorities.
    public init() {}
  }

  /// Creates the default scenario.
  public init() {}
}

/// The limits of a scenario.
public enum ScenarioLimit {
  /// People, and so phones.
  public static let people = 2...100_000
  /// Days.
  public static let days = 1...366
  /// Runs with a share of users each.
  public static let adoptions = 1...10
  /// The first days, 00:00 UTC, in seconds since 1970: 2020-01-01 to 2099-12-31.
  public static let start: ClosedRange<Int64> = 1_577_836_800...4_102_358_400
  /// The hours between key files, which are published when apps check for them: every four hours.
  public static let exportHours = [4, 8, 12, 24]
  /// The characters of the name.
  public static let nameCharactersMax = 100
  /// The size of the file in bytes.
  public static let fileBytesMax = 1 << 20
}
