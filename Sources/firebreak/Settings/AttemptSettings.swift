import VerificationServer

/// How many attempts the verification server bears. Documentation/VerificationServer.md 8.1.
struct AttemptSettings: Codable {
  var perAddress: Int
  var perCode: Int
  var perApiKey: Int
  var issuesPerApiKey: Int
  var windowSeconds: Int

  /// The defaults.
  init() {
    let standard = AttemptLimits()
    perAddress = standard.perAddress
    perCode = standard.perCode
    perApiKey = standard.perApiKey
    issuesPerApiKey = standard.issuesPerApiKey
    windowSeconds = standard.windowSeconds
  }

  init(from decoder: any Decoder) throws {
    self.init()
    let fields = try SettingFields<CodingKeys>(decoder)
    try fields.read(.perAddress, into: &perAddress)
    try fields.read(.perCode, into: &perCode)
    try fields.read(.perApiKey, into: &perApiKey)
    try fields.read(.issuesPerApiKey, into: &issuesPerApiKey)
    try fields.read(.windowSeconds, into: &windowSeconds)
  }

  /// The numbers as the server takes them.
  var limits: AttemptLimits {
    AttemptLimits(
      perAddress: perAddress, perCode: perCode, perApiKey: perApiKey,
      issuesPerApiKey: issuesPerApiKey, windowSeconds: windowSeconds)
  }
}
