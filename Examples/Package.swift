// swift-tools-version:6.2
import PackageDescription

// An app as apps are written for Apple's framework, and a phone and a server to run it on Linux.

/// App code of the years of Apple's framework was written in Swift 5, so this is too.
let asAppsAreWritten: [SwiftSetting] = [
  .swiftLanguageMode(.v5), .treatAllWarnings(as: .error),
]

let package = Package(
  name: "firebreak-example",
  dependencies: [
    .package(name: "firebreak", path: ".."),
    .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
  ],
  targets: [
    // The app: Foundation and Apple's names, nothing else.
    .target(
      name: "App",
      dependencies: [
        .product(name: "ExposureNotification", package: "firebreak"),
        .product(name: "BackgroundTasks", package: "firebreak"),
        .product(name: "UserNotifications", package: "firebreak"),
      ], swiftSettings: asAppsAreWritten),
    // What Apple and the health authority provide otherwise: phone, person, server.
    .executableTarget(
      name: "ExampleApp",
      dependencies: [
        "App",
        .product(name: "ExposureNotification", package: "firebreak"),
        .product(name: "BackgroundTasks", package: "firebreak"),
        .product(name: "UserNotifications", package: "firebreak"),
        .product(name: "DiagnosisKeyFile", package: "firebreak"),
        .product(name: "ExposureKeys", package: "firebreak"),
        .product(name: "SealedStorage", package: "firebreak"),
        .product(name: "World", package: "firebreak"),
        .product(name: "Crypto", package: "swift-crypto"),
      ], swiftSettings: asAppsAreWritten),
  ]
)
