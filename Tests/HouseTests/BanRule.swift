/// What is not done in this house, and what is done instead.
struct BanRule {
  let pattern: String
  let advice: String
  /// Rooms that may do it, because it is what they are for.
  var allowed: Set<String> = []

  /// In code, not in comments or strings.
  static let ofCode = [
    BanRule(
      pattern: #"(?<!\w)(Date\(\)|Date\.now\b)"#,
      advice: "take the time from the WallClock that is handed in", allowed: ["World"]),
    BanRule(
      pattern: #"\bSystemRandomNumberGenerator\b|\.random\(in:[^,]*\)|\.randomElement\(\)"#,
      advice: "take chance from the Randomness that is handed in", allowed: ["World"]),
    BanRule(
      pattern: #"(?<![\w.])(print|debugPrint|dump)\("#,
      advice: "return it, or log it without secrets", allowed: ["firebreak"]),
    BanRule(pattern: #"\btry!"#, advice: "throw, or say why it cannot fail by its type"),
    BanRule(
      pattern: #"\bfatalError\("#,
      advice: "return a refusal or throw an error that names what to do"),
    BanRule(pattern: #"\bTask\.detached\b"#, advice: "use a task group of the caller's"),
    BanRule(
      pattern: #"\bDispatchSemaphore\b|\bsem_(init|wait|post)\b"#,
      advice: "await instead of blocking a thread"),
    BanRule(pattern: #"(?<!\w)Thread[.(]"#, advice: "use tasks and actors"),
    BanRule(
      pattern: #"\b(ProcessInfo|getenv|setenv|CommandLine)\b"#,
      advice: "take it as a parameter: only the executable reads the outside",
      allowed: ["firebreak"]),
    BanRule(
      pattern: #"\bHTTPClient\.shared\b|\bclient: \.shared\b"#,
      advice: "ask through HTTPClient.withoutRedirects: the shared one follows them to http"),
    BanRule(
      pattern: #"@unchecked\s+Sendable"#,
      advice: "use a value, an actor or a Mutex",
      // What Apple's API gives and takes is not Sendable; it crosses queues in one private box.
      allowed: [
        "ExposureNotification", "ExposureApp", "BackgroundTasks", "UserNotifications",
        "DeviceCheck",
      ]),
  ]

  func findings(in file: SourceFile) -> [Finding] {
    if let room = file.room, allowed.contains(room) { return [] }
    return file.matches(pattern).map { file.finding($0.line, advice) }
  }

  /// In the whole text, comments and strings included.
  static func textFindings(in file: SourceFile) -> [Finding] {
    let wishes = ["TO" + "DO", "FIX" + "ME", "XX" + "X"]
    let places = ["work", "home", "root", "Users"].map { "/\($0)/" }
    return file.lines.enumerated().flatMap { index, line in
      wishes.filter { contains(line, word: $0) }.map {
        file.finding(index + 1, "\($0): do it now or write it where the project keeps its plans")
      }
        + places.filter { line.contains("\"\($0)") || line.contains(" \($0)") }.map {
          file.finding(index + 1, "\($0) is a path of one machine: take the path as a parameter")
        }
    }
  }

  private static func contains(_ line: String, word: String) -> Bool {
    line.split { !$0.isLetter }.contains { $0 == word }
  }
}
