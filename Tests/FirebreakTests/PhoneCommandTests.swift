// SPDX-License-Identifier: Apache-2.0
import Crypto
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing

@Suite("firebreak phone", .needs(.process))
struct PhoneCommandTests {
  private let place: TemporaryFolder
  private let phone: PhoneFixture

  init() throws {
    place = try TemporaryFolder()
    let key = P256.Signing.PrivateKey().publicKey.pemRepresentation
    try Data(key.utf8).write(to: place.path("root-public-key.pem"))
    phone = try PhoneFixture(
      "phone", in: place.url,
      servers: ["verification": "http://127.0.0.1:9", "keys": "http://127.0.0.1:9"],
      authority: place.url.path)
  }

  @Test("The status has all promised fields, with and without a running phone")
  func status() async throws {
    let promised: Set = [
      "enabled", "authorized", "bluetooth", "riskLevel", "exposures", "lastCheck", "lastFailure",
      "notices", "pendingUpload", "paused", "configurationRefused",
    ]
    let fresh = try await phone.json("status")
    #expect(Set(fresh.keys).isSuperset(of: promised))
    #expect(fresh["enabled"] as? Bool == false && fresh["lastCheck"] is NSNull)
    _ = try await phone.json("enable")
    try await phone.running { process in
      let status = try await phone.json("status")
      #expect(Set(status.keys) == Set(fresh.keys))
      #expect(status["enabled"] as? Bool == true && status["bluetooth"] as? Bool == true)
      let check = try await phone.run("check", "--json")
      #expect(check.status == 3)
      #expect(try check.json()?["failure"] as? String == "noConnection")
      #expect(check.errors.split(separator: "\n").count == 1)
      #expect(try await phone.json("status")["lastFailure"] as? String == "noConnection")
      #expect(try await process.terminate() == 0)
    }
    #expect(try await phone.json("status")["bluetooth"] as? Bool == false)
  }

  @Test("A phone that was turned off stays off after a restart")
  func disabled() async throws {
    _ = try await phone.json("enable")
    _ = try await phone.json("disable")
    try await phone.running { _ in
      let status = try await phone.facts(.status)
      #expect(status["enabled"] as? Bool == false)
    }
  }

  @Test("After everything is removed, a phone is off and not authorized until it is enabled again")
  func removed() async throws {
    _ = try await phone.json("enable")
    try await phone.running { process in
      _ = try await phone.json("remove", "everything")
      let status = try await phone.facts(.status)
      #expect(status["enabled"] as? Bool == false && status["authorized"] as? Bool == false)
      #expect(try await process.terminate() == 0)
    }
    try await phone.running { _ in
      let status = try await phone.facts(.status)
      #expect(status["enabled"] as? Bool == false && status["authorized"] as? Bool == false)
      #expect(status["notices"] as? Int == 0)
      #expect(try await phone.json("enable")["enabled"] as? Bool == true)
    }
  }

  @Test("A phone uses its controller at once", arguments: VirtualControllers.allCases)
  func controller(_ controllers: VirtualControllers) async throws {
    _ = try await phone.json("enable")
    try await controllers.withRunning { ports in
      let command = phone.arguments(["run", "--radio", "hci:127.0.0.1:\(ports[0])"])
      try await ChildProcess.withRunning(try Run.product(), command) { process in
        _ = try await process.firstLine()
        let status = try await phone.facts(.status)
        #expect(status["bluetooth"] as? Bool == true && status["notices"] as? Int == 0)
        #expect(try await phone.ask(.sent).text.contains(","))
        #expect(try await process.terminate() == 0)
      }
    }
  }

  @Test("A phone without its controller runs and logs the failure")
  func noController() async throws {
    let command = phone.arguments(["run", "--radio", "hci:127.0.0.1:1"])
    try await ChildProcess.withRunning(try Run.product(), command) { process in
      _ = try await process.firstLine()
      #expect(try process.errors.contains("warning") && process.errors.contains("hci:127.0.0.1:1"))
      #expect(try await phone.facts(.status)["bluetooth"] as? Bool == false)
    }
  }

  @Test("The objects of check, history and exposures always have all fields")
  func fields() async throws {
    let check = try await phone.run("check", "--json").json() as? [String: Any] ?? [:]
    #expect(
      Set(check.keys) == ["ok", "riskLevel", "failure", "paused", "configurationRefused"])
    #expect(try await phone.json("history")["lastCheck"] is NSNull)
    #expect(try await phone.json("exposures").keys.contains("riskLevel"))
  }

  @Test("A pause and a rejected device configuration are shown by check and status")
  func pausedAndRefused() async throws {
    let authority = try await ServedAuthority()
    let settings = { (root: String) in
      try phone.configure(servers: authority.addresses, authority: root)
    }
    try settings(authority.servers.data)
    _ = try await phone.json("enable")
    #expect(try await authority.run("key-server", "pause").status == 0)
    let check = try await phone.json("check")
    #expect(check["ok"] as? Bool == true && check["paused"] as? Bool == true)
    let status = try await phone.json("status")
    #expect(status["paused"] as? Bool == true && status["configurationRefused"] is NSNull)
    #expect(try await phone.run("status").output.contains("has paused checks"))
    // The key in the other folder is not the one that signed the document.
    try settings(place.url.path)
    let refused = try await phone.run("check", "--json")
    #expect(refused.errors.contains("the root key did not sign it"), "\(refused.errors)")
    let reason = try refused.json()?["configurationRefused"] as? String
    #expect(reason?.contains("the root key did not sign it") == true)
    let after = try await phone.json("status")
    #expect(after["configurationRefused"] as? String == reason && after["paused"] as? Bool == false)
    #expect(try await phone.run("status").output.contains("the root key did not sign it"))
    #expect(try await authority.servers.stop() == 0)
  }

  @Test("Only one phone runs on a folder, and another one is refused at once")
  func twice() async throws {
    try await phone.running { _ in
      let second = try await phone.run("run")
      #expect(second.status == 2 && second.errors.contains("already running"))
      let reply = try await phone.ask(.status)
      #expect(reply.status == .done)
    }
  }

  @Test("Commands and options for developers need --developer, here and in the running phone")
  func developers() async throws {
    _ = try await phone.json("status")
    let base = ["phone", "--data", phone.folder.path, "--key-file", phone.key]
    for command in [["sent"], ["hear", "-"], ["--clock-offset", "5", "status"]] {
      let run = try await Run(base + command)
      #expect(run.status == 2 && run.errors.contains("developer"), "\(run.errors)")
    }
    #expect(try await Run("serve", "--clock-offset", "5", "--data", place.url.path).status == 2)
    let configuration = ["--config", place.path("phone.json").path]
    try await ChildProcess.withRunning(try Run.product(), base + configuration + ["run"]) {
      process in
      _ = try await process.firstLine()
      let sent = try await phone.run("sent")
      #expect(sent.status == 2 && sent.errors.contains("start the running phone"))
    }
  }

  @Test("The PIN can be given on stdin, and a text that is no PIN is bad input")
  func pin() async throws {
    _ = try await phone.json("enable")
    let command = phone.arguments(["upload", "-"]).map { "'\($0)'" }.joined(separator: " ")
    for end in [#"\n"#, #"\r\n"#] {
      let run = try await Shell.run(
        "printf 'AB12CD\(end)' | '\(try Run.product().path)' \(command)")
      #expect(run.status == 1 && run.errors.contains("nothing to share"), "\(run.errors)")
    }
    #expect(try await phone.run("upload", "nonsense").status == 2)
    let long = try await Shell.run("printf '%0300d' 0 | '\(try Run.product().path)' \(command)")
    #expect(long.status == 2 && long.errors.contains("A PIN has six to ten"), "\(long.errors)")
  }

  @Test("Core dumps are disabled in a running phone and in the servers")
  func coreDumps() async throws {
    func limit(_ process: Int32) throws -> String? {
      try String(contentsOfFile: "/proc/\(process)/limits", encoding: .utf8)
        .split(separator: "\n").first { $0.hasPrefix("Max core file size") }.map(String.init)
    }
    try await phone.running { process in
      let words = try limit(process.processIdentifier)?.split(separator: " ") ?? []
      #expect(words.dropFirst(4).prefix(2) == ["0", "0"])
      // The memory of a process without dumps belongs to root, also if another user runs it.
      #expect(try await isHiddenFromItsUser(process.processIdentifier))
    }
    try await ChildProcess.withRunning(
      try Run.product(), ["serve", "--port", "0", "--data", place.path("servers").path]
    ) { process in
      _ = try await process.firstLine()
      let words = try limit(process.processIdentifier)?.split(separator: " ") ?? []
      #expect(words.dropFirst(4).prefix(2) == ["0", "0"])
    }
  }

  @Test("A command disables core dumps before it reads a PIN")
  func coreDumpsOfCommand() async throws {
    let command = phone.arguments(["upload", "-"]).map { "'\($0)'" }.joined(separator: " ")
    let run = try await Shell.run(
      """
      mkfifo '\(place.path("pin").path)'
      exec 3<> '\(place.path("pin").path)'
      '\(try Run.product().path)' \(command) <&3 2> /dev/null &
      for i in $(seq 1000)
      do
        grep -q '^Max core file size  *0  *0 ' /proc/$!/limits && echo disabled && break
        sleep 0.02
      done
      kill -9 $!
      """)
    #expect(run.output.contains("disabled"))
  }

  /// Of a dumpable process, other processes of its user may read the memory map.
  private func isHiddenFromItsUser(_ process: Int32) async throws -> Bool {
    guard geteuid() == 0 else {
      return !FileManager.default.isReadableFile(atPath: "/proc/\(process)/environ")
    }
    return true
  }

  @Test(
    "Each fault of the configuration is one line that names the field",
    arguments: [
      ("{}", "verificationServer is missing"), ("[]", "JSON object"), ("{", "JSON object"),
      (#"{"verificationServer":"http://a.example"}"#, "verificationServer must be"),
      (#"{"verificationServer":"https://a.example","x":1}"#, "x is not a setting"),
      (#"{"regions":["pl"]}"#, "verificationServer is missing"),
    ])
  func configuration(_ content: String, _ words: String) async throws {
    try Data(content.utf8).write(to: place.path("phone.json"))
    let run = try await phone.run("status")
    #expect(run.status == 2 && run.errors.contains(words), "\(run.errors)")
    #expect(run.errors.split(separator: "\n").count == 1)
  }

  @Test(
    "A value outside its form is refused",
    arguments: [
      ("regions", #"["pl"]"#), ("regions", "[]"), ("regions", #"["PL","PL"]"#),
      ("regions", #""PL""#), ("platform", #""windows""#), ("riskVersion", "3"),
      ("radio", #""usb""#), ("radio", #""hci:host""#), ("keyFile", #""key""#),
      ("appID", #""""#), ("rootKey", #""missing.pem""#),
      ("manufacturer", #""Google""#), ("model", "4"), ("device", #""flame""#),
      ("calibration", "{}"), ("calibration", #"{"transmitPower":21}"#),
      ("calibration", #"{"transmitPower":-51}"#),
      ("calibration", #"{"transmitPower":0,"confidence":"sure"}"#),
      ("calibration", #"{"transmitPower":0,"receiverCorrection":51}"#),
      ("rootKey", #""phone.json""#), ("windowRisk", #""phone.json""#),
    ])
  func value(_ field: String, _ value: String) async throws {
    let file = place.path("phone.json")
    var fields =
      try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] ?? [:]
    fields[field] = try JSONSerialization.jsonObject(
      with: Data(value.utf8), options: .fragmentsAllowed)
    if field == "windowRisk" { fields["riskVersion"] = 2 }
    try JSONSerialization.data(withJSONObject: fields).write(to: file)
    let run = try await phone.run("status")
    #expect(run.status == 2 && run.errors.split(separator: "\n").count == 1, "\(run.errors)")
    #expect(
      run.errors.contains(field) || run.errors.contains("root key"), "\(run.errors)")
  }

  @Test("A missing folder, configuration or key is one line that says what to do")
  func missing() async throws {
    let nowhere = place.path("nowhere").path
    let folder = try await Run("phone", "--data", nowhere, "status")
    #expect(folder.status == 2 && folder.errors.contains("does not exist"))
    try FileManager.default.createDirectory(
      atPath: nowhere, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    let configuration = try await Run("phone", "--data", nowhere, "status")
    #expect(configuration.status == 2 && configuration.errors.contains("no configuration"))
    let config = place.path("phone.json").path
    let key = try await Run("phone", "--data", nowhere, "--config", config, "status")
    #expect(key.status == 2 && key.errors.contains("--create-key"))
  }

  @Test("A key of another folder is refused in one line, and nothing in the folder changes")
  func otherKey() async throws {
    _ = try await phone.json("enable")
    func contents() throws -> [String: Data] {
      try place.files().filter { $0.path.hasPrefix(phone.folder.path) }
        .reduce(into: [:]) { $0[$1.path] = try Data(contentsOf: $1) }
    }
    let before = try contents()
    let other = place.path("other.key")
    try Data(repeating: 7, count: 32).write(to: other)
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: other.path)
    let run = try await Run(
      "phone", "--data", phone.folder.path, "--config", place.path("phone.json").path,
      "--key-file", other.path, "status")
    #expect(run.status == 2 && run.errors.contains("name the right key file"), "\(run.errors)")
    #expect(run.errors.contains(other.path) && run.errors.contains(phone.folder.path))
    #expect(run.errors.split(separator: "\n").count == 1)
    #expect(try contents() == before && before.count > 2)
    #expect(try await phone.json("status")["enabled"] as? Bool == true)
  }

  @Test(
    "The unit files are valid for systemd",
    arguments: [
      (name: "firebreak-phone.service", program: "%h/.local/bin/firebreak", manager: "user"),
      (name: "firebreak-phone@.service", program: "/usr/local/bin/firebreak", manager: "system"),
    ])
  func unit(of file: (name: String, program: String, manager: String)) async throws {
    let template = try String(
      contentsOf: SharedData.projectRoot.appendingPathComponent("scripts/\(file.name)"),
      encoding: .utf8)
    #expect(template.contains("ExecStart=\(file.program) phone "))
    let name = file.name.replacing("@.", with: "@root.")
    let unit = place.path(name)
    let command = template.replacing(file.program, with: try Run.product().path)
    try Data(command.utf8).write(to: unit)
    let verify =
      "XDG_RUNTIME_DIR='\(place.url.path)' systemd-analyze --\(file.manager) verify '\(unit.path)' 2>&1"
    let run = try await Shell.run(verify)
    #expect(run.status == 0 && run.output.isEmpty, "\(run.output)")
    // An unknown setting is found.
    try Data(command.replacing("UMask", with: "Umsak").utf8).write(to: unit)
    #expect(try await Shell.run(verify).output.contains("Umsak"))
  }

  @Test("The unit of the system has the capability of the user channel and no other")
  func capability() throws {
    let unit = try String(
      contentsOf: SharedData.projectRoot.appendingPathComponent("scripts/firebreak-phone@.service"),
      encoding: .utf8)
    for setting in ["AmbientCapabilities", "CapabilityBoundingSet"] {
      #expect(unit.contains("\n\(setting)=CAP_NET_ADMIN\n"))
    }
  }
}
