// SPDX-License-Identifier: Apache-2.0
import Glibc

/// A pattern that must not occur in code, and what to write instead.
struct BannedPattern {
  let pattern: String
  let advice: String
  /// The targets whose purpose requires it.
  var allowed: Set<String> = []

  /// Patterns in code; comments and strings are not searched.
  static let inCode = [
    BannedPattern(
      pattern:
        #"(?<!\w)Date((\.init)?\(\)|\.now\b)|:\s*Date\s*=\s*\.now\b|timeIntervalSinceNow|\btime\(nil\)"#,
      advice: "take the time from a WallClock parameter",
      // Apple's triggers return the date after the current time, also without a program that has a clock.
      allowed: ["World", "UserNotifications"]),
    BannedPattern(
      pattern:
        #"\bSystemRandomNumberGenerator\b|\.random\((?!.*\busing:)|\.(randomElement|shuffled|shuffle)\(\)"#,
      advice: "take random bytes from a Randomness parameter", allowed: ["World"]),
    BannedPattern(
      pattern: #"\bSymmetricKey\(size:|\b(GCM|ChaChaPoly)\.Nonce\(\)"#,
      advice: "make it of bytes of a Randomness parameter"),
    BannedPattern(
      pattern: #"\bDatabase(Pool|Queue)\("#,
      advice: "open it with ServerDatabase, which sets what all databases need",
      // The database of the bench is a reference without the server.
      allowed: ["ServerStorage", "Bench"]),
    BannedPattern(
      pattern: #"(?<![\w.])(print|debugPrint|dump)\("#,
      advice: "return the text, or log it without secrets", allowed: ["firebreak"]),
    BannedPattern(
      pattern: #"\bradix: 16\b"#, advice: "use the hexadecimal of TextEncodings"),
    BannedPattern(
      pattern:
        #"\bU?Int(64)?\([^()]*\.timeIntervalSince1970(\.rounded\(\.down\))?\)"#
        + #"|timeIntervalSince1970: (Double|TimeInterval)\((?!bitPattern)"#,
      advice: "use the Unix time of World", allowed: ["World", "ExposureKeys"]),
    BannedPattern(pattern: #"\btry!"#, advice: "throw, or make failure impossible by type"),
    BannedPattern(
      pattern: #"\bfatalError\("#,
      advice: "throw an error that says what to do"),
    BannedPattern(pattern: #"\bTask\.detached\b"#, advice: "use a task group"),
    BannedPattern(
      pattern: #"\bwithoutActuallyEscaping\b"#,
      advice: "let the closure escape: the program would depend on the path of the sources"),
    BannedPattern(
      pattern: #"\bDispatchSemaphore\b|\bsem_(init|wait|post)\b"#,
      advice: "await instead of blocking a thread"),
    BannedPattern(pattern: #"(?<!\w)Thread[.(]"#, advice: "use tasks and actors"),
    BannedPattern(
      pattern: #"\b(ProcessInfo|getenv|setenv|CommandLine)\b"#,
      advice: "take it as a parameter: only the executable reads the environment",
      allowed: ["firebreak"]),
    BannedPattern(
      pattern: #"\bHTTPClient\.shared\b|\bclient: \.shared\b"#,
      advice: "use HTTPClient.withoutRedirects: the shared client follows redirects to http"),
    BannedPattern(
      pattern: #"@unchecked\s+Sendable"#,
      advice: "use a value, an actor or a Mutex",
      // Apple's API takes values that are not Sendable; they cross queues in one private box.
      allowed: [
        "ExposureNotification", "ExposureApp", "BackgroundTasks", "UserNotifications",
        "DeviceCheck",
      ]),
  ]

  /// Banned in tests and examples too.
  static let foundationProcess = BannedPattern(
    pattern: #"\bProcess(\.init|\.run)?\(|:\s*Process\b|\bposix_spawnp?\("#,
    advice: "use swift-subprocess: Foundation.Process crashes under load")

  /// Banned in tests.
  static let literalTimeLimit = BannedPattern(
    pattern: #"\.timeLimit\((?!\.minutes\(Patience\.minutes\))"#,
    advice: "take Patience.minutes, which a proof extends")

  /// Banned in tests.
  static let impatientDatabase = BannedPattern(
    pattern: #"\bDatabase(Pool|Queue)(\.init)?\((path:|$)"#,
    advice: "use DatabaseQueue(waitingAt:), in one line with its path: a server may be writing")

  func violations(in file: SourceFile) -> [Violation] {
    if let target = file.target, allowed.contains(target) { return [] }
    return file.matches(pattern).map { file.violation($0.line, advice) }
  }

  /// Markers of unfinished work and absolute paths, in the whole text including comments and strings.
  static func textViolations(in file: SourceFile) -> [Violation] {
    let markers = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
    let places = ["work", "home", "root", "Users"].map { "/\($0)/" }
    var violations: [Violation] = []
    for (index, line) in file.lines.enumerated() {
      for marker in markers where contains(line, word: marker) {
        violations.append(file.violation(index + 1, "\(marker): finish the work or file an issue"))
      }
      for place in places where contains(line, "\"\(place)") || contains(line, " \(place)") {
        violations.append(
          file.violation(index + 1, "\(place) is a path of one machine: take it as a parameter"))
      }
    }
    return violations
  }

  private static func contains(_ line: String, word: String) -> Bool {
    contains(line, word) && line.split { !$0.isLetter }.contains { $0 == word }
  }

  /// `String.contains` needs a minute for the lines of the project.
  private static func contains(_ line: String, _ text: String) -> Bool {
    strstr(line, text) != nil
  }
}
