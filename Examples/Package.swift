// swift-tools-version:6.2
import PackageDescription

// An app for Apple's framework, with a simulated phone and server to run it on Linux.

/// Swift 5 mode, because most apps for Apple's framework use it.
let swift5: [SwiftSetting] = [
  .swiftLanguageMode(.v5), .treatAllWarnings(as: .error),
]

let package = Package(
  name: "firebreak-example",
  dependencies: [
    .package(name: "firebreak", path: ".."),
    .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
    .package(url: "https://github.com/swiftlang/swift-subprocess", exact: "1.0.2"),
  ],
  targets: [
    // The app, which imports only Foundation and Apple's frameworks.
    .target(
      name: "App",
      dependencies: [
        .product(name: "ExposureNotification", package: "firebreak"),
        .product(name: "BackgroundTasks", package: "firebreak"),
        .product(name: "UserNotifications", package: "firebreak"),
      ], swiftSettings: swift5),
    // The simulated phone, user and server.
    .executableTarget(
      name: "ExampleApp",
      dependencies: [
        "App",
        .product(name: "ExposureNotification", package: "firebreak"),
        .product(name: "BackgroundTasks", package: "firebreak"),
        .product(name: "UserNotifications", package: "firebreak"),
        .product(name: "DiagnosisKeyFile", package: "firebreak"),
        .product(name: "ExposureKeys", package: "firebreak"),
        .product(name: "KeyServerAPI", package: "firebreak"),
        .product(name: "VerificationAPI", package: "firebreak"),
        .product(name: "SealedStorage", package: "firebreak"),
        .product(name: "World", package: "firebreak"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Subprocess", package: "swift-subprocess"),
      ], swiftSettings: swift5),
  ]
)
