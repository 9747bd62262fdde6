// SPDX-License-Identifier: Apache-2.0
/// The calibration of a phone's radio, which makes the attenuations of different models comparable.
///
/// Bluetooth Specification 1.2.2, "Associated Encrypted Metadata": a sender states its transmit power and
/// how reliable it is; a receiver corrects the signal strengths that its antenna measures.
public struct Calibration: Hashable, Sendable {
  /// The transmit power in dBm that the phone states in its beacons.
  public let transmitPower: Int8
  /// The correction in dB that is added to each received signal strength.
  public let receiverCorrection: Int8
  /// The reliability of the transmit power, also stated in the beacons.
  public let confidence: CalibrationConfidence

  /// Creates a calibration; use it for a radio that was measured, or without a correction for a test.
  public init(
    transmitPower: Int8, receiverCorrection: Int8 = 0, confidence: CalibrationConfidence = .lowest
  ) {
    self.transmitPower = transmitPower
    self.receiverCorrection = receiverCorrection
    self.confidence = confidence
  }
}

/// The reliability of a transmit power, with the numbers of the metadata.
public enum CalibrationConfidence: UInt8, Sendable, CaseIterable {
  /// Not calibrated.
  case lowest = 0
  /// The mean of the manufacturer's models.
  case low = 1
  /// Measured for a similar model.
  case medium = 2
  /// Measured for this model.
  case high = 3
}

extension Calibration {
  /// The calibration of a phone of an unknown model: the mean of all listed models.
  public static let unknownModel = mean(of: CalibratedModel.all, .lowest)

  /// Finds the calibration of a phone model in the published list. Upper and lower case do not matter.
  ///
  /// A listed model has high confidence. If the list has only phones of the manufacturer with the same
  /// device name or the same model name, their mean has medium confidence, and the mean of all phones of
  /// the manufacturer low confidence. For an unknown manufacturer it returns `unknownModel`.
  ///
  /// - Parameters:
  ///   - manufacturer: such as `Google`.
  ///   - model: the name of the model, such as `Pixel 4`.
  ///   - device: the internal name, such as `flame`, which distinguishes variants of a model. Nil if it is
  ///     not known: then a model that is listed once is found.
  public static func of(
    manufacturer: String, model: String, device: String? = nil
  ) -> Calibration {
    let (manufacturer, model) = (manufacturer.lowercased(), model.lowercased())
    let device = device?.lowercased()
    let phones = CalibratedModel.all.filter { $0.manufacturer.lowercased() == manufacturer }
    let namesakes = phones.filter { $0.model.lowercased() == model }
    let exact = namesakes.filter { device == nil || $0.device.lowercased() == device }
    if exact.count == 1 { return mean(of: exact, .high) }
    let relatives = phones.filter {
      $0.model.lowercased() == model || $0.device.lowercased() == device
    }
    if !relatives.isEmpty { return mean(of: relatives, .medium) }
    return phones.isEmpty ? unknownModel : mean(of: phones, .low)
  }

  /// The rounded mean of `models`, which must not be empty.
  private static func mean(
    of models: [CalibratedModel], _ confidence: CalibrationConfidence
  ) -> Calibration {
    func mean(_ values: [Int8]) -> Int8 {
      let sum = values.reduce(0) { $0 + Double($1) }
      return Int8((sum / Double(values.count)).rounded(.toNearestOrAwayFromZero))
    }
    return Calibration(
      transmitPower: mean(models.map(\.transmitPower)),
      receiverCorrection: mean(models.map(\.receiverCorrection)), confidence: confidence)
  }
}

/// The published calibration of phone models: receiver correction and transmit power of 551 models.
///
/// The facts are those of Google's list `en-calibration-2020-12-14`, created and shared by Google and used
/// under the Creative Commons 4.0 Attribution License; taken from microg/GmsCore (Apache-2.0 AND CC-BY-4.0).
/// The format of the table is ours.
struct CalibratedModel: Hashable, Sendable {
  let manufacturer: String
  /// The internal name of the device, such as `flame`.
  let device: String
  /// The name of the model, such as `Pixel 4`.
  let model: String
  /// In dB.
  let receiverCorrection: Int8
  /// In dBm.
  let transmitPower: Int8

  /// All models, in the order of the list.
  static let all = parsed(table)

  /// Parses a table: lines of entries, and before them lines with `= ` and the manufacturer.
  private static func parsed(_ table: String) -> [CalibratedModel] {
    var manufacturer = ""
    return table.split(separator: "\n").flatMap { line -> [CalibratedModel] in
      if line.hasPrefix(manufacturerMark) {
        manufacturer = String(line.dropFirst(manufacturerMark.count))
        return []
      }
      return line.split(separator: ";").compactMap { CalibratedModel($0, by: manufacturer) }
    }
  }

  /// Parses `device,model,correction,power`; an empty model has the name of the device.
  private init?(_ entry: Substring, by manufacturer: String) {
    let fields = entry.split(separator: ",", omittingEmptySubsequences: false)
    guard fields.count == 4, let correction = Int8(fields[2]), let power = Int8(fields[3]) else {
      return nil
    }
    self.manufacturer = manufacturer
    device = String(fields[0])
    model = String(fields[1].isEmpty ? fields[0] : fields[1])
    receiverCorrection = correction
    transmitPower = power
  }

  private static let manufacturerMark = "= "

  private static let table = """
    = asus
    ASUS_A001,,9,-25;ASUS_I001_1,ASUS_I001D,4,-28;ASUS_I002D,,7,-37;ASUS_I003_1,ASUS_I003DD,1,-32;ASUS_I01WD,,5,-27
    ASUS_X008_1,ASUS_X008DC,0,-21;ASUS_X00T_3,ASUS_X00TD,2,-26;ASUS_X018_4,ASUS_X018D,2,-22
    ASUS_X01BD_1,ASUS_X01BDA,2,-25;ASUS_Z010_CD,ASUS_Z010D,2,-18;ASUS_Z01F_1,ASUS_Z01FD,5,-20
    ASUS_Z01QD_1,ASUS_Z01QD,3,-25;ASUS_Z01R_1,ASUS_Z01RD,4,-26;P027,,4,-20
    = blackberry
    bbe100,BBE100-4,6,-27
    = blu
    Grand_M,Grand M,-1,-21;Studio_Mega,Studio Mega,6,-28;Tank_Xtreme_4_0,Tank Xtreme 4.0,1,-24;BLU_VIVO_5,VIVO 5,5,-24
    V0270WW,Vivo ONE,4,-25
    = coolpad
    CP8722,Coolpad 8722V,0,-20
    = docomo
    SO-41A,,2,-31
    = essential products
    mata,PH-1,7,-24
    = google
    sailfish,Pixel,-3,-26;blueline,Pixel 3,5,-33;sargo,Pixel 3a,2,-29;bonito,Pixel 3a XL,2,-28;flame,Pixel 4,8,-30
    coral,Pixel 4 XL,7,-26;sunfish,Pixel 4a,1,-30;redfin,Pixel 5,5,-25;marlin,Pixel XL,-2,-26;gobo,gobo_512,2,-22
    = htc
    htc_pmewhl,2PS64,-1,-31;htc_pmewl,HTC 10,1,-31;htc_pmeuhl,HTC 10,2,-33;htc_a16ul,HTC Desire 530,5,-28
    htc_ocnwhl,HTC U11,2,-21;htc_ocndugl,HTC U11,2,-27;htc_ocmdugl,HTC U11 plus,3,-28;htc_imldugl,HTC U12 life,2,-23
    htc_imedugl,HTC U12+,7,-33;htc_ocedugl,HTC_U-1u,-5,-29;htc_ocndugl,HTC_U-3u,5,-23
    = huawei
    HWANE,ANE-LX3,3,-3;HWCLT,CLT-L09,-1,-30;HWCOR,COR-L29,2,-5;HWDRA-MG,DRA-LX3,4,-24;HWTIT-L6735,HUAWEI TIT-AL00,4,-10
    HW-01K,,-1,-32;hwfdra04l,HWT31,3,-24;HNKIW-Q,KIW-L24,7,-25;HWMHA,MHA-L29,2,-27;HWNEO,NEO-L29,-3,-28
    angler,Nexus 6P,6,-27;HWPIC,PIC-AL00,-1,-3;HWPRA-H,PRA-LX1,1,-3;HWWAS-H,WAS-LX3,2,-4
    = infinix
    Infinix-X627STU,Infinix X627,3,-27;Infinix-X650,Infinix X650,1,-26;Infinix-X650C,Infinix X650C,3,-30
    Infinix-X653,Infinix X653,4,-24;Infinix-X653C,Infinix X653C,-1,-23
    = itel
    itel-A32F,itel A32F,3,-26;itel-L5503,itel L5503,-3,-6;itel-L6005,itel L6005,-4,-1;itel-W5504,itel W5504,-1,-11
    = lava
    Z50,,6,-26
    = leagoo
    T5c,,-29,-23
    = lenovo
    A1010a20,Lenovo A1010a20,2,-25;A6600d40,Lenovo A6600d40,3,-26;guamp,Lenovo K12 Note,1,-18;K33a42,Lenovo K33a42,3,-29
    K33a48,Lenovo K33a48,3,-27;seoul,Lenovo K520,4,-20;k52_e78,Lenovo K52e78,0,-18;K53a48,Lenovo K53a48,5,-29
    brady_f,Lenovo K8,4,-22;manning,Lenovo K8 Note,4,-26;jd2018,Lenovo L78011,1,-21;P2a42,Lenovo P2a42,3,-19
    TB3-710I,Lenovo TB3-710I,3,-26;zoom_tdd,Lenovo Z90-3,5,-22
    = letv
    le_s2_ww,Le X527,4,-21
    = lge
    lv0,LG-AS110,6,-24;p1,LG-F500L,-3,-24;h1,LG-F700L,9,-28;c50,LG-H345,3,-21;g4stylus,LG-H634,3,-21;p1,LG-H815,-3,-25
    mme0n,LG-K100,2,-23;mm1v,LG-K350,1,-21;m253,LG-K430,2,-22;k5,LG-K500,6,-22;ph1,LG-K540,6,-22;mlv5,LG-M250,3,-22
    mlv1,LG-X230,2,-23;mlv3,LG-X240,1,-22;e7iilte,LGLK430,2,-18;me0,LGLS450,5,-24;joan,LGM-V300L,4,-21
    anna,LGM-X800L,6,-13;p1,LGUS991,-4,-25;mdh30xlm,LM-K500,6,-30;mh3,LM-Q620,7,-33;mdh50lm,LM-Q730,4,-30
    phoenix_sprout,LM-Q910,4,-24;timelm,LM-V600,-1,-33;cv1,LM-X210,4,-18;bullhead,Nexus 5X,-6,-25;h1,RS988,8,-3
    lucye,VS988,-3,-8;elsa,VS995,6,-3
    = meizu
    mx4,MX4,5,-5
    = motorola
    athene_f,Moto G (4),0,-17;cedric,Moto G (5),3,-19;potter_n,Moto G (5) Plus,6,-20;potter,Moto G (5) Plus,3,-19
    sanders,Moto G (5S) Plus,4,-19;harpia,Moto G Play,5,-23;albus,Moto Z2 Play,3,-18;osprey_uds,MotoG3,5,-21
    shamu,Nexus 6,10,-29;clark,XT1575,0,-30;harpia,XT1609,5,-22;addison,XT1635-01,5,-19;griffin,XT1650,-3,-26
    taido_row,XT1706,8,-27;pettyl,moto e5 play,1,-27;rjames_f,moto e5 play,3,-18;kiev,moto g 5G,4,-26
    nairo,moto g 5G plus,-3,-26;sofiap_sprout,moto g pro,4,-34;jeter,moto g(6) play,3,-20;river,moto g(7),4,-23
    channel,moto g(7) play,6,-32;lake_n,moto g(7) plus,3,-23;doha_n,moto g(8) plus,3,-23;odessa,moto g(9) plus,5,-33
    cebu,moto g(9) power,-2,-16;payton,moto x4,2,-23;messi,moto z3,4,-26;foles,moto z4,8,-30;racer,motorola edge,-2,-27
    burton,motorola edge plus,8,-35;deen_sprout,motorola one,4,-21;def,motorola one hyper,4,-23
    chef_sprout,motorola one power,2,-22
    = nokia
    FRT,Nokia 1,2,-24;ANT,Nokia 1 Plus,1,-20;E2M,Nokia 2.1,0,-28;IRM_sprout,Nokia 2.3,-3,-21;ES2_sprout,Nokia 3.1,6,-23
    ROON_sprout,Nokia 3.1 Plus,0,-24;DPL_sprout,Nokia 3.2,4,-32;PAN_sprout,Nokia 4.2,7,-36;CO2_sprout,Nokia 5.1,6,-25
    PL2_sprout,Nokia 6.1,8,-28;DRG_sprout,Nokia 6.1 Plus,6,-27;B2N_sprout,Nokia 7 plus,2,-20;CTL_sprout,Nokia 7.1,6,-24
    DDV_sprout,Nokia 7.2,3,-7;A1N_sprout,Nokia 8 Sirocco,12,-30;PNX_sprout,Nokia 8.1,5,-24;BGT_sprout,Nokia 8.3 5G,5,-23
    AOP_sprout,Nokia 9,7,-25;RKU,Nokia C1,-7,-3;NB1,TA-1012,5,-22;PLE,TA-1025,2,-17;PL2,TA-1054,7,-26
    = nokia 5.1 plus
    Panda_00WW,PDA_sprout,5,-28
    = oneplus
    OnePlus7,GM1900,3,-17;OnePlus7Pro,GM1910,3,-18;OnePlus7T,HD1905,1,-16;OnePlus7TPro,HD1911,0,-17
    OnePlus8,IN2011,4,-27;OnePlus8Pro,IN2025,6,-29;OnePlus8T,KB2003,5,-31;OnePlus5,ONEPLUS A5000,6,-25
    OnePlus5T,ONEPLUS A5010,3,-22;OnePlus6,ONEPLUS A6000,3,-23;OnePlus6,ONEPLUS A6003,4,-29
    OnePlus6T,ONEPLUS A6010,2,-19;OnePlus6T,ONEPLUS A6013,1,-21
    = oppo
    CPH1715,,2,-25;CPH1717,,-4,-18;CPH1721,,-1,-20;CPH1723,,3,-24;CPH1803,,-1,-17;CPH1823,,-2,-21;OP4845,CPH1919,3,-24
    CPH1920,,-2,-24;OP4B79L1,CPH1931,4,-32;OP4B65L1,CPH1945,-1,-26;OP4863,CPH1969,2,-27;OP48A1L1,CPH1979,0,-36
    OP4C4BL1,CPH1989,-4,-21;OP4C2DL1,CPH2009,4,-26;OP4BA1L1,CPH2023,9,-37
    = orange
    Neva_play,Orange Neva play,-1,-12;Neva_zen,Orange Neva zen,-5,-3
    = orbic
    RC555L,,5,-26
    = razer
    cheryl,Phone,7,-26;aura,Phone 2,3,-24
    = redmi
    olivelite,Redmi 8A,5,-30;lavender,Redmi Note 7,5,-29;ginkgo,Redmi Note 8,4,-19
    = samsung
    poseidonlteatt,SAMSUNG-SM-G891A,4,-27;klteatt,SAMSUNG-SM-G900A,9,-23;heroqlteaio,SAMSUNG-SM-G930AZ,11,-33
    hero2qlteatt,SAMSUNG-SM-G935A,10,-33;SC-02J,,11,-31;SC-02K,,11,-29;SC-02L,,5,-23;SC-03K,,15,-34;SCV33,,7,-29
    SCV36,,9,-24;a10e,SM-A102U,6,-25;a10,SM-A105F,3,-23;a10,SM-A105FN,4,-25;a10,SM-A105G,2,-23;a10,SM-A105M,1,-23
    a10s,SM-A107F,5,-30;a20e,SM-A202F,2,-26;a20,SM-A205F,3,-26;a20,SM-A205G,2,-24;a20p,SM-A205U,23,-47
    a20s,SM-A207F,8,-32;a3ulte,SM-A300FU,6,-23;a30,SM-A305F,4,-23;a30s,SM-A307FN,2,-26;a3y17lte,SM-A320FL,-10,-23
    a40,SM-A405FN,2,-23;a50,SM-A505F,0,-20;a50,SM-A505FM,3,-20;a50,SM-A505FN,-2,-20;a5xelte,SM-A510F,6,-2
    a5xelte,SM-A510M,3,-1;a51,SM-A515F,2,-28;a5y17lte,SM-A520F,-6,-25;jackpotlte,SM-A530F,2,-23;a6lte,SM-A600FN,8,-35
    a70q,SM-A705FN,5,-33;a7xelte,SM-A710F,5,-5;a7y18lte,SM-A750F,4,-24;a7y18lte,SM-A750FN,5,-26;a7y18lte,SM-A750GN,6,-23
    a9y18qltechn,SM-A9200,5,-24;a9y18qlte,SM-A920F,4,-21;c5proltechn,SM-C5010,9,-26;jadeltechn,SM-C7100,8,-26
    elitexlte,SM-G1650,6,-30;grandpplte,SM-G532M,4,-24;on5xelte,SM-G570F,7,-24;on5xelte,SM-G570M,2,-24
    o7ltechn,SM-G6000,3,-22;on7xelte,SM-G610F,7,2;on7xreflte,SM-G611F,6,-2;slte,SM-G850F,17,-33
    astarqltechn,SM-G8850,3,-24;astarqlteskt,SM-G885S,1,-24;cruiserlteatt,SM-G892A,8,-24;klte,SM-G900F,12,-24
    zeroflte,SM-G920F,9,-25;zeroflte,SM-G920I,7,-24;zerofltetmo,SM-G920T,8,-24;zerolte,SM-G925F,8,-25
    zerolte,SM-G925I,4,-23;herolte,SM-G930F,9,-33;heroqltespr,SM-G930P,7,-32;heroqlteusc,SM-G930R4,12,-35
    heroqltevzw,SM-G930V,9,-32;hero2qltechn,SM-G9350,8,-31;hero2lte,SM-G935F,11,-33;hero2qltespr,SM-G935P,8,-31
    hero2qlteusc,SM-G935R4,9,-29;hero2qltetmo,SM-G935T,4,-28;hero2qltevzw,SM-G935V,14,-34;dreamlte,SM-G950F,12,-29
    dreamlteks,SM-G950N,11,-27;dreamqlteue,SM-G950U1,10,-27;dreamqltecan,SM-G950W,9,-24;dream2lte,SM-G955F,9,-26
    dream2lteks,SM-G955N,10,-26;dream2qlteue,SM-G955U1,10,-26;dream2qltecan,SM-G955W,8,-23;starqltechn,SM-G9600,4,-22
    starlte,SM-G960F,8,-28;starlteks,SM-G960N,7,-28;starqltesq,SM-G960U,5,-21;starqlteue,SM-G960U1,4,-19
    star2qltechn,SM-G9650,7,-26;star2lte,SM-G965F,8,-27;star2lteks,SM-G965N,9,-25;star2qltesq,SM-G965U,8,-25
    star2qlteue,SM-G965U1,6,-24;beyond1,SM-G973F,2,-29;beyond1q,SM-G973U,-1,-26;beyond2,SM-G975F,1,-26
    beyond2q,SM-G975U,0,-24;beyondx,SM-G977N,0,-26;beyondxq,SM-G977P,-3,-34;j1qltevzw,SM-J100VPP,6,-22
    j2y18lte,SM-J250F,3,-27;j2corelte,SM-J260F,5,-25;j2corelte,SM-J260G,7,-27;j2corelte,SM-J260M,6,-25
    j3ltevzw,SM-J320V,1,-17;j3popelteue,SM-J327U,6,-24;j3y17ltelgt,SM-J330F,3,-24;j3y17lte,SM-J330FN,4,-28
    j3y17ltelgt,SM-J330L,2,-22;j3topeltevzw,SM-J337V,0,-19;j4lte,SM-J400F,6,-27;j4lte,SM-J400M,8,-27
    j4primelte,SM-J415F,3,-29;j4primelte,SM-J415G,4,-28;j5lte,SM-J500F,4,-19;j53g,SM-J500H,-1,-18;j5lte,SM-J500M,2,-18
    j5xnlte,SM-J510FN,1,-18;j5xnlte,SM-J510GN,3,-19;j5xnlte,SM-J510MN,3,-20;j5y17lte,SM-J530F,8,-33
    j6lte,SM-J600FN,7,-24;j6primelte,SM-J610F,3,-27;j6primelte,SM-J610G,3,-28;j7velte,SM-J701F,8,-3
    j7popltevzw,SM-J727V,4,-20;j7y17lte,SM-J730F,6,-33;j7y17lte,SM-J730FM,7,-34;j7y17ltektt,SM-J730K,4,-30
    j8y18lte,SM-J810F,5,-29;j8y18lte,SM-J810M,5,-32;m20lte,SM-M205F,3,-22;trelte,SM-N910C,11,-31;tblte,SM-N915G,7,-24
    noblelte,SM-N9208,4,-29;noblelte,SM-N920C,5,-30;greatlte,SM-N950F,8,-24;greatlteks,SM-N950N,6,-24
    greatqlte,SM-N950U,9,-25;greatqlteue,SM-N950U1,9,-26;crownlte,SM-N960F,7,-28;crownlteks,SM-N960N,9,-27
    crownqltesq,SM-N960U,5,-24;crownqlteue,SM-N960U1,5,-24;j3topeltetfnvzw,SM-S367VL,3,-21
    j7popqltetfnvzw,SM-S727VL,4,-18;gt58wifi,SM-T350,2,-18;gtesveltevzw,SM-T378V,1,-20;gta2swifi,SM-T380,4,-19
    gta2swifichn,SM-T380C,4,-20;gta2sltechn,SM-T385C,4,-20;gta2sltektt,SM-T385K,3,-18;gta2sltelgt,SM-T385L,2,-19
    gtactive2wifi,SM-T390,-11,-23;gtactive2lte,SM-T395,-8,-26;gtaxlwifi,SM-T580,-12,-22;gts3lwifi,SM-T820,-10,-23
    gts3lltevzw,SM-T827V,0,-22;gts4lltevzw,SM-T837V,1,-20
    = sg
    OI6,A001SH,9,-32
    = sharp
    eve_sprout,507SH,6,-29;SG509SH,509SH,3,-34;SG704SH,704SH,5,-32;kaleido_sprout,S1,3,-22;rome_sprout,S3-SH,5,-39
    zeon_sprout,S5-SH,2,-25;SH-01K,,4,-34;SH-01L,,3,-25;SH-01M,,7,-27;SH-02J,,5,-34;SH-02M,,5,-29;SH-03J,,6,-24
    SH-03K,,4,-28;SH-04H,,1,-36;SH-04L,,5,-27;SH-51A,,4,-41;SHV36,,6,-36;HUR,SHV39,5,-22
    = sm-j415f
    j4primeltedx,j4primelte,4,-26
    = softbank
    Z8851S,902ZT,6,-34
    = sony
    601SO,,1,-36;602SO,,-3,-30;701SO,,6,-26;E6603,,10,-26;E6633,,13,-26;F5121,,8,-34;F8131,,1,-32;F8331,,-2,-29
    F8332,,-2,-31;G3123,,4,-24;G3223,,8,-27;G8141,,11,-34;G8142,,10,-27;G8232,,0,-34;G8341,,10,-31;G8342,,9,-28
    G8441,,5,-24;H4113,,9,-31;H8216,,5,-31;H8266,,6,-30;H8296,,8,-32;H8314,,9,-33;H8324,,9,-33;H8416,,6,-30;I3113,,4,-28
    I4213,,8,-29;I4312,,4,-31;SO-01J,,0,-32;SO-01K,,7,-29;SO-01L,,5,-32;SO-02L,,3,-26;SO-03J,,0,-34;SO-03K,,5,-29
    SO-03L,,7,-28;SO-04J,,10,-31;SO-05K,,8,-31;SO-51A,,4,-45;SOV33,,-3,-33;SOV34,,-2,-32;SOV36,,8,-27;SOV41,,3,-25
    SOV42,,4,-29;XQ-AD51,,6,-31
    = sprint
    htc_acawhl,2PYB2,10,-27
    = tcl
    A5A_INFINI,5086D,3,-26;T1_LITE,T770B,4,-34;T1,T780H,5,-33;Seattle,T790Y,2,-32;T1_PRO,T799H,1,-31
    = tct (alcatel)
    Pixi4-4,4034D,13,-40;Seoul,5002D_EEA,2,-33;PIXI3_45_4G,5017O,5,-29;Faraday,5024A,-6,-6;A3A_XL_3G,5026A,0,-26
    TokyoPro,5029E,-2,-24;Jakarta,5030D_EEA,-8,-6;Morgan_4G,5032W,2,-29;U3A_PLUS_4G,5033M,3,-26;U50A_ATT,5041C,2,-24
    BUZZ6T4G,5044P,9,-33;PIXI4_5_4G,5045F,19,-43;mickey6t,5049G,2,-26;Mickey6TVZW,5049S,3,-26;Mickey6TTMO,5049Z,5,-29
    A3A_PLUS,5058A,4,-27;U5A_PLUS_4G,5059A,1,-20;Milan,5061K,2,-30;shine_lite,5080X,4,-27;A3A_XL_4G,5099U,2,-27
    FERMI_TF,A501DL,1,-24;U50A_PLUS_TF,A502DL,5,-27;BUZZ6T4GTFUMTS,A574BL,3,-28;FERMI_ATT,Alcatel_5005R,2,-25
    BUZZ6T4GGOPHONE,Alcatel_5044R,4,-28;U50A_PLUS_ATT,Alcatel_5059R,3,-27
    = tecno
    TECNO-BA2,TECNO BA2,3,-27;TECNO-BB4k,TECNO BB4k,6,-28;TECNO-CC6,TECNO CC6,0,-28;TECNO-CC7,TECNO CC7,1,-25
    TECNO-CE9,TECNO CE9,3,-27;TECNO-CF7,TECNO CF7,3,-11;TECNO-KB7j,TECNO KB7j,5,-29;TECNO-KC1,TECNO KC1,7,-28
    TECNO-KC2,TECNO KC2,9,-33;TECNO-KC6,TECNO KC6,4,-28;TECNO-KC8,TECNO KC8,4,-28;TECNO-LC6,TECNO LC6,2,-31
    = tesla
    SS0801,AC2003,1,-29
    = vivo
    1723,vivo 1723,4,-20;1804,vivo 1804,5,-26
    = vodafone
    VFD610,VFD 610,7,-29
    = xiaomi
    cancro,MI 4W,4,-21;gemini,MI 5,-2,-27;capricorn,MI 5s,-4,-26;natrium,MI 5s Plus,-3,-23;sagit,MI 6,2,-22
    dipper,MI 8,1,-22;platina,MI 8 Lite,1,-21;equuleus,MI 8 Pro,1,-30;nitrogen,MI MAX 3,3,-24;virgo,MI NOTE LTE,9,-23
    lithium,MIX,-2,-27;davinci,Mi 9T,3,-31;tissot_sprout,Mi A1,1,-18;jasmine_sprout,Mi A2,2,-23
    daisy_sprout,Mi A2 Lite,4,-21;laurel_sprout,Mi A3,1,-19;chiron,Mi MIX 2,6,-24;polaris,Mi MIX 2S,1,-19
    scorpio,Mi Note 2,-2,-25;ido,Redmi 3,3,-21;land,Redmi 3S,-1,-25;santoni,Redmi 4X,-1,-23;rosy,Redmi 5,4,-31
    riva,Redmi 5A,3,-29;cereus,Redmi 6,1,-25;sakura_india,Redmi 6 Pro,5,-21;cactus,Redmi 6A,2,-27;onc,Redmi 7,4,-30
    pine,Redmi 7A,4,-34;olive,Redmi 8,10,-31;tiare,Redmi Go,5,-31;kenzo,Redmi Note 3,5,-22;whyred,Redmi Note 5,1,-20
    tulip,Redmi Note 6 Pro,4,-29;violet,Redmi Note 7 Pro,4,-30;ysl,Redmi S2,4,-29
    = zte
    P809F15,BLADE A6 MAX,4,-28;P450L10,BLADE V9,7,-31;P963F50,Blade A5 2020-T,-3,-11;Z6350T,Blade A7S 2020-T,-4,1
    Z6351O,P650 Pro,-4,0;T86,,3,-29;Z3351,Z3351S,3,-25;Z5151,Z5151V,6,-33;Z5156,Z5156CC,0,-25;Z5157,Z5157V,-1,-24
    Z6201,Z6201V,12,-36;Z6250,Z6250CC,0,-25;Z6530,Z6530V,15,-39;camellia,Z833,3,-25;Z7750R,ZR01,16,-36
    P963F05,ZTE 8010,-3,-2;P963F05,ZTE 8010RU,-3,-2;P671F60,ZTE 9000,4,-28;P683S10,ZTE 9000N,9,-31
    P845A01,ZTE A2019G Pro,8,-26;P855A02,ZTE A2020 Pro,6,-25;P855A01,ZTE A2020G Pro,8,-28;P855A21,ZTE A2020N3 Pro,6,-26
    P855A03_NA,ZTE A2020U Pro,6,-26;P725A12,ZTE A2021,9,-29;P725A11,ZTE A2021G,-1,-29;P725A12,ZTE A2021H,0,-28
    P725A02,ZTE A2121,9,-31;P618A01,ZTE A2121E,1,-26;P963F03,ZTE A7020,-3,-4;P963F03,ZTE A7020RU,-3,-4
    P932F20,ZTE Blade A3 2019,-4,-4;P932F50,ZTE Blade A3 2020,-4,-7;P932K30,ZTE Blade A3 2020,-5,-4
    P963F50,ZTE Blade A5 2020,-3,-10;P662F02,ZTE Blade A7s,2,-27;P731K30,ZTE Blade L130,-5,-5
    P731F50,ZTE Blade L210,-4,-2;P731F50,ZTE Blade L210RU,-4,-5;P671F20,ZTE Blade V10,7,-31
    P963F01,ZTE Blade V10 Vita,-3,-10
    """
}
