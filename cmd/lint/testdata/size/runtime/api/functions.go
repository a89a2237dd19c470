package api

func fits(x int) int {
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	return x
}

func long(x int) int {
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	return x
}

func dispatch(x int) int {
	x++
	switch x {
	case 0:
		return long(x)
	case 1:
		return long(x)
	case 2:
		return long(x)
	case 3:
		return long(x)
	case 4:
		return long(x)
	case 5:
		return long(x)
	case 6:
		return long(x)
	case 7:
		return long(x)
	case 8:
		return long(x)
	case 9:
		return long(x)
	case 10:
		return long(x)
	case 11:
		return long(x)
	case 12:
		return long(x)
	case 13:
		return long(x)
	case 14:
		return long(x)
	case 15:
		return long(x)
	case 16:
		return long(x)
	case 17:
		return long(x)
	case 18:
		return long(x)
	case 19:
		return long(x)
	case 20:
		return long(x)
	case 21:
		return long(x)
	case 22:
		return long(x)
	case 23:
		return long(x)
	case 24:
		return long(x)
	case 25:
		return long(x)
	case 26:
		return long(x)
	case 27:
		return long(x)
	case 28:
		return long(x)
	case 29:
		return long(x)
	case 30:
		return long(x)
	case 31:
		return long(x)
	case 32:
		return long(x)
	case 33:
		return long(x)
	case 34:
		return long(x)
	case 35:
		return long(x)
	case 36:
		return long(x)
	case 37:
		return long(x)
	case 38:
		return long(x)
	case 39:
		return long(x)
	}
	return x
}

func heavy(x int) int {
	switch x {
	case 0:
		return long(x)
	case 1:
		return long(x)
	case 2:
		return long(x)
	case 3:
		return long(x)
	case 4:
		return long(x)
	case 5:
		return long(x)
	case 6:
		return long(x)
	case 7:
		return long(x)
	case 8:
		return long(x)
	case 9:
		return long(x)
	case 10:
		return long(x)
	case 11:
		return long(x)
	case 12:
		return long(x)
	case 13:
		return long(x)
	case 14:
		return long(x)
	case 15:
		return long(x)
	case 16:
		return long(x)
	case 17:
		return long(x)
	case 18:
		return long(x)
	case 19:
		return long(x)
	case 20:
		return long(x)
	case 21:
		return long(x)
	case 22:
		return long(x)
	case 23:
		return long(x)
	case 24:
		return long(x)
	case 25:
		return long(x)
	case 26:
		return long(x)
	case 27:
		return long(x)
	case 28:
		return long(x)
	case 29:
		return long(x)
	case 30:
		return long(x)
	case 31:
		return long(x)
	case 32:
		return long(x)
	case 33:
		return long(x)
	case 34:
		return long(x)
	case 35:
		return long(x)
	case 36:
		return long(x)
	case 37:
		return long(x)
	case 38:
		return long(x)
	case 39:
		return long(x)
	case 99:
		x++
		x++
		x++
		x++
		x++
		x++
		x++
	}
	return x
}

func aside(x int) int {
	switch x {
	case 0:
		return long(x)
	case 1:
		return long(x)
	case 2:
		return long(x)
	case 3:
		return long(x)
	case 4:
		return long(x)
	case 5:
		return long(x)
	case 6:
		return long(x)
	case 7:
		return long(x)
	case 8:
		return long(x)
	case 9:
		return long(x)
	case 10:
		return long(x)
	case 11:
		return long(x)
	case 12:
		return long(x)
	case 13:
		return long(x)
	case 14:
		return long(x)
	case 15:
		return long(x)
	case 16:
		return long(x)
	case 17:
		return long(x)
	case 18:
		return long(x)
	case 19:
		return long(x)
	}
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	x++
	return x
}
