package gate

type Machine struct{}

func (*Machine) m0()  {}
func (*Machine) m1()  {}
func (*Machine) m2()  {}
func (*Machine) m3()  {}
func (*Machine) m4()  {}
func (*Machine) m5()  {}
func (*Machine) m6()  {}
func (*Machine) m7()  {}
func (*Machine) m8()  {}
func (*Machine) m9()  {}
func (*Machine) m10() {}
func (*Machine) m11() {}
func (*Machine) m12() {}
func (*Machine) m13() {}
func (*Machine) m14() {}
func (*Machine) m15() {}
func (*Machine) m16() {}
func (*Machine) m17() {}
func (*Machine) m18() {}
func (*Machine) m19() {}
func (*Machine) m20() {}

type fits struct{}

func (*fits) f0()  {}
func (*fits) f1()  {}
func (*fits) f2()  {}
func (*fits) f3()  {}
func (*fits) f4()  {}
func (*fits) f5()  {}
func (*fits) f6()  {}
func (*fits) f7()  {}
func (*fits) f8()  {}
func (*fits) f9()  {}
func (*fits) f10() {}
func (*fits) f11() {}
func (*fits) f12() {}
func (*fits) f13() {}
func (*fits) f14() {}
func (*fits) f15() {}
func (*fits) f16() {}
func (*fits) f17() {}
func (*fits) f18() {}
func (*fits) f19() {}
func (*fits) f20() {}
func (*fits) f21() {}
func (*fits) f22() {}
func (*fits) f23() {}
func (*fits) f24() {}
func (*fits) f25() {}
func (*fits) f26() {}
func (*fits) f27() {}
func (*fits) f28() {}
func (*fits) f29() {}
func (*fits) f30() {}
func (*fits) f31() {}
func (*fits) f32() {}
func (*fits) f33() {}
func (*fits) f34() {}
func (*fits) f35() {}
func (*fits) f36() {}
func (*fits) f37() {}
func (*fits) f38() {}
func (*fits) f39() {}
