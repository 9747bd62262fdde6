// SPDX-License-Identifier: Apache-2.0
/// Keys in base64 of DER, written by OpenSSL 3.0.19. The P-256 ones are all the same key, made for these tests.
enum OpenSSLKeys {
  /// The usual form.
  static let uncompressed = """
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEXOQVN3vh40iUOWS2a3oyIf/wduJqACYK3gVzHKTlS3+j3xSpznIU8Oos\
    RJn8VKouqsQyCJ4p7zwuDNxYWA5cmQ==
    """

  /// `openssl ec -conv_form compressed`
  static let compressed = """
    MDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgADXOQVN3vh40iUOWS2a3oyIf/wduJqACYK3gVzHKTlS38=
    """

  /// `openssl ec -conv_form hybrid`
  static let hybrid = """
    MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAHXOQVN3vh40iUOWS2a3oyIf/wduJqACYK3gVzHKTlS3+j3xSpznIU8Oos\
    RJn8VKouqsQyCJ4p7zwuDNxYWA5cmQ==
    """

  /// `openssl ec -param_enc explicit`
  static let explicit = """
    MIIBSzCCAQMGByqGSM49AgEwgfcCAQEwLAYHKoZIzj0BAQIhAP////8AAAABAAAAAAAAAAAAAAAA////////////////\
    MFsEIP////8AAAABAAAAAAAAAAAAAAAA///////////////8BCBaxjXYqjqT57PrvVV2mIa8ZR0GsMxTsPY7zjw+J9Jg\
    SwMVAMSdNgiG5wSTamZ44ROdJreBn36QBEEEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n\
    60p8D54WK84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA//////////+85vqtpxeehPO5ysL8YyVRAgEBA0IABFzkFTd7\
    4eNIlDlktmt6MiH/8HbiagAmCt4Fcxyk5Ut/o98Uqc5yFPDqLESZ/FSqLqrEMgieKe88LgzcWFgOXJk=
    """

  /// `openssl ec -param_enc explicit -conv_form compressed`
  static let explicitCompressed = """
    MIIBCjCB4wYHKoZIzj0CATCB1wIBATAsBgcqhkjOPQEBAiEA/////wAAAAEAAAAAAAAAAAAAAAD///////////////8w\
    WwQg/////wAAAAEAAAAAAAAAAAAAAAD///////////////wEIFrGNdiqOpPns+u9VXaYhrxlHQawzFOw9jvOPD4n0mBL\
    AxUAxJ02CIbnBJNqZnjhE50mt4GffpAEIQNrF9Hy4SxCR/i85uVjpEDydwN9gS3rM6D0oTlF2JjClgIhAP////8AAAAA\
    //////////+85vqtpxeehPO5ysL8YyVRAgEBAyIAA1zkFTd74eNIlDlktmt6MiH/8HbiagAmCt4Fcxyk5Ut/
    """

  /// `openssl ecparam -genkey`
  static let sec1 = """
    MHcCAQEEIHzHAr5PbKTNpAdleRKM6IO75ZWUvCD10wgVvc3U/fYIoAoGCCqGSM49AwEHoUQDQgAEXOQVN3vh40iUOWS2\
    a3oyIf/wduJqACYK3gVzHKTlS3+j3xSpznIU8OosRJn8VKouqsQyCJ4p7zwuDNxYWA5cmQ==
    """

  /// `openssl pkcs8 -topk8 -nocrypt`
  static let pkcs8 = """
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgfMcCvk9spM2kB2V5Eozog7vllZS8IPXTCBW9zdT99gih\
    RANCAARc5BU3e+HjSJQ5ZLZrejIh//B24moAJgreBXMcpOVLf6PfFKnOchTw6ixEmfxUqi6qxDIIninvPC4M3FhYDlyZ
    """

  /// `openssl ec -conv_form compressed`
  static let sec1Compressed = """
    MFcCAQEEIHzHAr5PbKTNpAdleRKM6IO75ZWUvCD10wgVvc3U/fYIoAoGCCqGSM49AwEHoSQDIgADXOQVN3vh40iUOWS2\
    a3oyIf/wduJqACYK3gVzHKTlS38=
    """

  /// `openssl ec -param_enc explicit`
  static let sec1Explicit = """
    MIIBaAIBAQQgfMcCvk9spM2kB2V5Eozog7vllZS8IPXTCBW9zdT99giggfowgfcCAQEwLAYHKoZIzj0BAQIhAP////8A\
    AAABAAAAAAAAAAAAAAAA////////////////MFsEIP////8AAAABAAAAAAAAAAAAAAAA///////////////8BCBaxjXY\
    qjqT57PrvVV2mIa8ZR0GsMxTsPY7zjw+J9JgSwMVAMSdNgiG5wSTamZ44ROdJreBn36QBEEEaxfR8uEsQkf4vOblY6RA\
    8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9QIhAP////8AAAAA//////////+8\
    5vqtpxeehPO5ysL8YyVRAgEBoUQDQgAEXOQVN3vh40iUOWS2a3oyIf/wduJqACYK3gVzHKTlS3+j3xSpznIU8OosRJn8\
    VKouqsQyCJ4p7zwuDNxYWA5cmQ==
    """

  /// `openssl ec -no_public`
  static let sec1WithoutPublicKey = """
    MDECAQEEIHzHAr5PbKTNpAdleRKM6IO75ZWUvCD10wgVvc3U/fYIoAoGCCqGSM49AwEH
    """

  /// The same without the name of the curve.
  static let sec1WithoutCurve = "MCUCAQEEIHzHAr5PbKTNpAdleRKM6IO75ZWUvCD10wgVvc3U/fYI"

  /// `openssl pkcs8 -topk8`
  static let encryptedPKCS8 = """
    MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAifur68LepxNgICCAAwDAYIKoZIhvcNAgkFADAdBglghkgB\
    ZQMEASoEECANPlxNudtYoTWZnsjgEGAEgZA/NyJ77bfach7bdwS3z2rCTfiqhOt38yUThrIJTfdgR+O/Ry+wAVPVmHFL\
    hQhBcxTiyQiyv35Q1GcBcrDAUX7YES55fN8JebXBHiPsmha4kQGIqEFIcw+N4hVil0402/BktnCG5CNIeDJ0Wf+BkYZc\
    Q+PbRNbxReU8BtWkK+Mf2tiO200X9Fzi2bD0LhPgtf4=
    """

  /// `openssl ec -aes256`, without its header fields.
  static let encryptedSEC1 = """
    r3DqYsuBngTHKfXG8nbChh+FipPfZ+p0G6bTbC9a0IUZBiMwqOO6O9EsUbSY5sexdHvu8ytcGyZZZiggpqmz3heA53LI\
    Nmhs0clCNTtGgIhUp9cQ/DnnceCoDWR/cErRW15+2DovxVgdMFWJFXAG3S56nMpEJLbRdl0CmtDIgSI=
    """

  /// A key of P-384.
  static let p384PrivateKey = """
    MIGkAgEBBDBBE6sWGrn4sfRiszpQ7V2/BTUf8iG1tEwkapq5DoRPvKdueQo6oDF+VMuIf4/fOPCgBwYFK4EEACKhZANi\
    AATalPiMqlxy6Wsz0YPLknxDDuww7E1cOy0iH1hkPpdmYz6b6yOUX2eb5kp1094C/N4I2mjCsRkJD5FYyly7qkXyZhPD\
    BwV2uka1De2DosFOrWPGQW6mfb5F/SHv/dpca70=
    """

  /// Its public key.
  static let p384 = """
    MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAE2pT4jKpcculrM9GDy5J8Qw7sMOxNXDstIh9YZD6XZmM+m+sjlF9nm+ZKddPe\
    AvzeCNpowrEZCQ+RWMpcu6pF8mYTwwcFdrpGtQ3tg6LBTq1jxkFupn2+Rf0h7/3aXGu9
    """

  /// A public key of brainpoolP256r1.
  static let brainpool = """
    MFowFAYHKoZIzj0CAQYJKyQDAwIIAQEHA0IABImMdQQ3PvMOz1Z861AST+DquQUOdWGXlbRrq5qMD7K+YZUoYBvjlP9R\
    LIc4wX6hCHefnBbJ4d4crviAwgZkfXo=
    """

  /// A public key of Ed25519.
  static let ed25519 = """
    MCowBQYDK2VwAyEAqOl85exgafiiVGghLBlhmmq2xhixkGB9CNxkoNXoE+M=
    """

  /// A public key of RSA.
  static let rsa = """
    MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEAvksjOYKEEl6Q0Tsoeqr+0c3dC07+MDvUAnzXnXQgeYqs3/Pb\
    RpyYLVa0gR4bsWpeFQ4U+gxei40J99BKotcVEviw0YyQJTQRSqfn/53yOOlhPGWj2qu/s7T862JYUFeSboAKUtni+lwm\
    e35DGAPQfYLw/3hj0BtQRLbjkSDD8PDNhghH2BMsVefq+X9zCJ61bIh3au6pnAlCWd5Z6qis8cS4EIqQ7UcDjzQgrFdk\
    Wg7Dw+0M7JGboy4rZkIjaqZeOabB3J9Vwl7ATv6gp3WRQ3w7tDQ6R6r8mDYXpdXYSqxqhSyuEQGGMurTEkm7hS2v2NTb\
    uwrepRv9frHxVhEGrQIDAQAB
    """

  /// A certificate of the key.
  static let certificate = """
    MIIBbjCCAROgAwIBAgIUI9Rmhynj+YnFEFsYU0hnXH2Fhq0wCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBeDAeFw0yNjEx\
    MjYxMjI3MzJaFw0yNjEyMjYxMjI3MzJaMAwxCjAIBgNVBAMMAXgwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAARc5BU3\
    e+HjSJQ5ZLZrejIh//B24moAJgreBXMcpOVLf6PfFKnOchTw6ixEmfxUqi6qxDIIninvPC4M3FhYDlyZo1MwUTAdBgNV\
    HQ4EFgQUfO3TRzkTrDF/DfGkufEXc+TYENIwHwYDVR0jBBgwFoAUfO3TRzkTrDF/DfGkufEXc+TYENIwDwYDVR0TAQH/\
    BAUwAwEB/zAKBggqhkjOPQQDAgNJADBGAiEAqUYHSQwGvIbxNgBjKUBn9rM/evTznXsx7byQXBG61h4CIQDsNLhXuyzW\
    xcT/TwUghFTKenKZ3H+dkOGkCJMdQoeDFg==
    """

  /// A certificate request of the key.
  static let request = """
    MIHFMG4CAQAwDDEKMAgGA1UEAwwBeDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABFzkFTd74eNIlDlktmt6MiH/8Hbi\
    agAmCt4Fcxyk5Ut/o98Uqc5yFPDqLESZ/FSqLqrEMgieKe88LgzcWFgOXJmgADAKBggqhkjOPQQDAgNHADBEAiB0jSL+\
    6IorCMnluiaO2EgaudrbkfCA5E8GGxDmo3dBEQIgMRu8UhVPZ1NQp5l27Z/D5L4I9PalYTpjurX/WcToOzU=
    """
}
