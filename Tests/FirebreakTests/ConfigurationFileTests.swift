// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP
import ServedSystem
import Settings
import TestSupport
import Testing

@Suite("One configuration file for all servers", .needs(.process))
struct ConfigurationFileTests {
  private let folder: TemporaryFolder
  private var config: String { folder.path("firebreak.json").path }

  init() throws { folder = try TemporaryFolder() }

  private func run(
    _ options: [String] = [], environment: [String: String] = [:]
  ) async throws -> ChildProcess.Result {
    try await ChildProcess.run(
      Run.product(),
      ["serve", "--print-configuration", "--data", folder.path("data").path, "--config", config]
        + options, environment: Run.environment(adding: environment))
  }

  private func keys(_ result: ChildProcess.Result) throws -> [String: Any] {
    let json = try JSONSerialization.jsonObject(with: Data(result.output.utf8))
    return try #require((json as? [String: [String: Any]])?["keys"], "\(result.errors)")
  }

  @Test(
    "Of a setting the file is replaced by settings.json, that by the environment, and all by options"
  )
  func order() async throws {
    let file = """
      {"keys": {"region": "CZ", "minimumKeys": 1, "paddingRange": 1, "uploadAttempts": 1},
       "verification": {"logLevel": "info"}}
      """
    try Data(file.utf8).write(to: folder.path("firebreak.json"))
    try ServedAuthority.write(
      ["keys/settings.json": #"{"minimumKeys":2,"paddingRange":2,"region":"SK"}"#], in: folder)
    let result = try await run(
      ["--region", "PL"],
      environment: ["FIREBREAK_KEYS_MINIMUM_KEYS": "3", "FIREBREAK_KEYS_REGION": "DE"])
    let keys = try keys(result)
    #expect(keys["uploadAttempts"] as? Int == 1)
    #expect(keys["paddingRange"] as? Int == 2)
    #expect(keys["minimumKeys"] as? Int == 3)
    #expect(keys["region"] as? String == "PL")
    // Nothing is created.
    #expect(folder.files().count { $0.path.contains("/data/") } == 1)
  }

  @Test("A wrong value or name is refused with the place where it stands")
  func refused() async throws {
    for (file, environment, named) in [
      (#"{"keys": {"minimumKeys": -1}}"#, [:], "firebreak.json: keys.minimumKeys"),
      (#"{"keys": {"minimumKey": 1}}"#, [:], "firebreak.json: keys.minimumKey"),
      (#"{"key": {}}"#, [:], "firebreak.json: key is no server"),
      ("[]", [:], "firebreak.json"),
      (#"{"keys": {"realms": []}}"#, [:], "firebreak.json: keys.realms is not a setting"),
      ("{}", ["FIREBREAK_KEYS_REALMS": "[]"], "FIREBREAK_KEYS_REALMS names no setting"),
      ("{}", ["FIREBREAK_KEYS_MINIMUM_KEY": "1"], "FIREBREAK_KEYS_MINIMUM_KEY names no setting"),
      ("{}", ["FIREBREAK_REGION": "DE"], "FIREBREAK_REGION names no server"),
      ("{}", ["FIREBREAK_KEY_MINIMUM_KEYS": "1"], "FIREBREAK_KEY_MINIMUM_KEYS names no server"),
      ("{}", ["FIREBREAK_VERIFY_ISSUER": "a"], "FIREBREAK_VERIFY_ISSUER names no server"),
      ("{}", ["FIREBREAK_VERIFY_LINK_DAYS": "2"], "FIREBREAK_VERIFY_LINK_DAYS names no server"),
      ("{}", ["FIREBREAK_KEYS_MINIMUM_KEYS": "many"], "FIREBREAK_KEYS_MINIMUM_KEYS: minimumKeys"),
      ("{}", ["FIREBREAK_KEYS_MINIMUM_KEYS": "-1"], "FIREBREAK_KEYS_MINIMUM_KEYS: minimumKeys"),
    ] as [(String, [String: String], String)] {
      try Data(file.utf8).write(to: folder.path("firebreak.json"))
      let result = try await run(environment: environment)
      #expect(result.status == 2 && result.output.isEmpty, "\(file)")
      #expect(result.errors.contains(named), "\(result.errors)")
      #expect(result.errors.split(separator: "\n").count == 1)
    }
    try FileManager.default.removeItem(atPath: config)
    #expect(try await run().errors.contains("does not exist"))
  }

  @Test(
    "A variable of digits is text if the setting takes text; an error of one is not that of a file")
  func environment() async throws {
    try Data("{}".utf8).write(to: folder.path("firebreak.json"))
    try ServedAuthority.write(["keys/settings.json": "{}"], in: folder)
    let result = try await run(environment: ["FIREBREAK_KEYS_KEY_ID": "260"])
    #expect(try keys(result)["keyID"] as? String == "260")
    let wrong = try await run(environment: ["FIREBREAK_KEYS_MINIMUM_KEYS": "-1"])
    #expect(wrong.status == 2 && !wrong.errors.contains("settings.json"), "\(wrong.errors)")
    try Data(#"{"keys": {"minimumKeys": -1}}"#.utf8).write(to: folder.path("firebreak.json"))
    let inFile = try await run()
    #expect(inFile.status == 2 && !inFile.errors.contains("settings.json"), "\(inFile.errors)")
  }

  @Test(
    "A variable of the operator's own, which ends like a setting, is named by serve and has no effect",
    arguments: [
      "FIREBREAK_BACKUP_FILES", "FIREBREAK_RESTORE_REGION", "FIREBREAK_SERVER_LINK_DAYS",
      "FIREBREAK_CONTAINER_LOG_LEVEL",
    ])
  func own(variable: String) async throws {
    try Data("{}".utf8).write(to: folder.path("firebreak.json"))
    try ServedAuthority.prepare(folder)
    let variables = [variable: "nowhere", "FIREBREAK_GRAFANA": "a", "FIREBREAK_TEST_REGION": "b"]
    let result = try await run(environment: variables)
    #expect(result.status == 0 && !result.output.contains("nowhere"), "\(result.errors)")
    let lines = result.errors.split(separator: "\n")
    #expect(lines == ["firebreak: \(variable) names no server, and has no effect."])
    // Commands of the administration do not repeat it.
    let command = try await ChildProcess.run(
      Run.product(), ["key-server", "settings", "--data", folder.path("data").path],
      environment: Run.environment(adding: variables))
    #expect(command.status == 0 && command.errors.isEmpty, "\(command.errors)")
  }

  @Test("Printed settings are a configuration file, and an empty FIREBREAK_CONFIG names none")
  func printed() async throws {
    func printed(_ config: String) async throws -> ChildProcess.Result {
      try await ChildProcess.run(
        Run.product(), ["serve", "--print-configuration", "--data", folder.path("data").path],
        environment: Run.environment(adding: [
          "FIREBREAK_CONFIG": config, "FIREBREAK_OPTIONS": "--port 8080",
        ]))
    }
    let first = try await printed("")
    #expect(first.status == 0, "\(first.errors)")
    try Data(first.output.utf8).write(to: folder.path("firebreak.json"))
    let second = try await printed(config)
    #expect(second.status == 0 && second.output == first.output, "\(second.errors)")
  }

  @Test("No secret of the environment, an address or a file is printed or quoted in an error")
  func secret() async throws {
    let secret = "hunter2"
    func gateway(_ fields: String) -> String {
      #"{"region":"PL","gateway":{\#(fields),"account":"A","from":"+1"}}"#
    }
    for environment in [
      ["DATABASE_URL": "postgresql://u:\(secret)@127.0.0.1/"],
      ["DATABASE_URL": "mysql://u:\(secret)@127.0.0.1/"],
      ["AWS_ACCESS_KEY_ID": secret, "AWS_SECRET_ACCESS_KEY": secret],
      ["FIREBREAK_KEYS_FILES": "s3://u:\(secret)@bucket"],
      ["FIREBREAK_KEYS_FILES": "s3://bucket?secret=\(secret)"],
      ["FIREBREAK_KEYS_FILES": "s3://bucket?endpoint=https://u:\(secret)@store.example"],
      [
        "FIREBREAK_VERIFICATION_SMS": gateway(
          #""baseURL":"https://u:\#(secret)@a.example","tokenFile":"t""#)
      ],
      [
        "FIREBREAK_VERIFICATION_SMS": gateway(
          #""baseURL":"https://a.example","token":"\#(secret)""#)
      ],
    ] {
      try Data("{}".utf8).write(to: folder.path("firebreak.json"))
      let result = try await run(environment: environment)
      #expect(!result.output.contains(secret) && !result.errors.contains(secret), "\(environment)")
      #expect(result.status == 0 || result.errors.split(separator: "\n").count == 1)
    }
  }

  @Test("FIREBREAK_CONFIG names the file for commands without --config")
  func variable() async throws {
    try Data(#"{"keys": {"minimumKeys": 77}}"#.utf8).write(to: folder.path("firebreak.json"))
    let result = try await ChildProcess.run(
      Run.product(), ["serve", "--print-configuration", "--data", folder.path("data").path],
      environment: Run.environment(adding: ["FIREBREAK_CONFIG": config]))
    #expect(try keys(result)["minimumKeys"] as? Int == 77)
  }

  @Test(
    "Commands read the file that the servers were started with, until they are started without it")
  func remembered() async throws {
    try Data(#"{"keys": {"minimumKeys": 77}}"#.utf8).write(to: folder.path("firebreak.json"))
    let data = folder.path("data").path
    func minimum(_ options: String...) async throws -> Int? {
      let run = try await Run(["key-server", "settings", "--json", "--data", data] + options)
      #expect(run.status == 0, "\(run.errors)")
      return try run.json()?["minimumKeys"] as? Int
    }
    let first = try await ServedFirebreak(folder: folder, ["--config", config])
    _ = try await first.addresses()
    #expect(try await minimum() == 77)
    let other = folder.path("other.json")
    try Data(#"{"keys": {"minimumKeys": 78}}"#.utf8).write(to: other)
    #expect(try await minimum("--config", other.path) == 78)
    #expect(try await first.stop() == 0)
    #expect(try await minimum() == 77)
    try FileManager.default.removeItem(atPath: config)
    let lost = try await Run(["key-server", "settings", "--data", data])
    #expect(lost.status == 2 && lost.errors.contains("with which the servers were started"))
    #expect(lost.errors.split(separator: "\n").count == 1)
    let second = try await ServedFirebreak(folder: folder)
    _ = try await second.addresses()
    #expect(try await minimum() != 77)
    #expect(try await second.stop() == 0)
  }

  @Test(
    "A command reads the file that its server was started with last, and refuses different ones")
  func separate() async throws {
    let (data, other) = (folder.path("data").path, folder.path("other.json").path)
    func minimum(after options: String...) async throws -> Int? {
      let served = try await ServedFirebreak(folder: folder, options)
      _ = try await served.addresses()
      #expect(try await served.stop() == 0)
      let run = try await Run(["key-server", "settings", "--json", "--data", data])
      #expect(run.status == 0, "\(run.errors)")
      return try run.json()?["minimumKeys"] as? Int
    }
    try Data(#"{"keys": {"minimumKeys": 77}}"#.utf8).write(to: folder.path("firebreak.json"))
    try Data(#"{"keys": {"minimumKeys": 78}}"#.utf8).write(to: URL(fileURLWithPath: other))
    #expect(try await minimum(after: "--config", config) == 77)
    #expect(try await minimum(after: "--only", "keys", "--config", other) == 78)
    let without = try await minimum(after: "--only", "keys")
    #expect(without != 77 && without != 78)
    let backup = ["backup", folder.path("backup").path, "--data", data]
    let refused = try await Run(backup)
    #expect(refused.status == 2 && refused.errors.contains("different configuration files"))
    #expect(refused.errors.split(separator: "\n").count == 1)
    #expect(try await Run(backup + ["--config", other]).status == 0)
  }

  @Test(
    "SIGHUP reads the file again, and a file that became wrong leaves the settings as they were")
  func reloaded() async throws {
    let path = folder.path("notify").path
    let receiver = try DatagramReceiver(path: path)
    func write(_ seconds: Int) throws {
      try Data(#"{"keys": {"exportPeriodSeconds": \#(seconds)}}"#.utf8)
        .write(to: folder.path("firebreak.json"))
    }
    try write(14_400)
    let servers = try await ServedFirebreak(
      folder: folder, ["--metrics-port", "0", "--config", config],
      environment: ["NOTIFY_SOCKET": path])
    defer { withExtendedLifetime(servers) {} }
    let address = try await servers.addresses()["metrics"]
    func period() async throws -> Int? {
      let response = try await servers.get(address, MetricsEndpoint.path)
      return String(decoding: response.body, as: UTF8.self)
        .firstMatch(of: #/export_period_seconds\{server="keys",export=""} (\d+)/#)
        .flatMap { Int($0.output.1) }
    }
    var messages: [String] = []
    func ready(_ count: Int) async throws {
      try await Patience.until {
        messages += receiver.all()
        return messages.count { $0.hasPrefix("READY=1") } >= count
      }
    }
    try await ready(1)
    #expect(try await period() == 14_400)
    try write(7_200)
    servers.send(SIGHUP)
    try await ready(2)
    #expect(try await period() == 7_200)
    try Data("{".utf8).write(to: folder.path("firebreak.json"))
    servers.send(SIGHUP)
    try await ready(3)
    #expect(try await period() == 7_200)
    #expect(try await servers.stop() == 0)
  }

  @Test("The variable of a setting has its words in upper case")
  func variables() {
    for (name, variable) in [
      ("exportPeriodSeconds", "EXPORT_PERIOD_SECONDS"), ("keyID", "KEY_ID"),
      ("allowsPlainHTTP", "ALLOWS_PLAIN_HTTP"), ("verificationURL", "VERIFICATION_URL"),
      ("canary", "CANARY"),
    ] {
      #expect(SharedSettings.variable(name) == variable)
    }
  }
}
