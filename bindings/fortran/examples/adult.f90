! SPDX-License-Identifier: BSD-3-Clause
!> The Adult data of the UCI repository, as text: 14 attributes and the income class a line.
module adult
  implicit none
  private
  public :: read_rows
  integer, parameter, public :: width = 120 !< numbers, then a 0 or 1 for each known word
  integer, parameter :: numbers(5) = [1, 5, 11, 12, 13], words(8) = [2, 4, 6, 7, 8, 9, 10, 14], most = 50000
  character(len=32) :: known(width) = ""
  real(8) :: mean(5), deviation(5)

contains

  !> Rows first, first + stride, ... of a file as columns of x; y is 1 for an income above 50K. Training data tell which
  !> words there are, and the mean and deviation of numbers, for all later files.
  subroutine read_rows(path, first, stride, training, x, y)
    character(len=*), intent(in) :: path
    integer, intent(in) :: first, stride
    logical, intent(in) :: training
    real(8), allocatable, intent(out) :: x(:, :), y(:)
    character(len=256) :: line
    character(len=32) :: field(15)
    integer :: file, row, k, place, status
    allocate (x(width, most), y(most))
    x = 0
    row = 0
    open (newunit=file, file=path, status="old", action="read")
    do
      read (file, '(a)', iostat=status) line
      if (status /= 0) exit
      if (count(transfer(line, "a", len(line)) == ",") /= 14) cycle
      if (row == most) error stop "more rows than expected"
      row = row + 1
      read (line, *) field
      y(row) = merge(1, 0, field(15) (1:1) == ">")
      do k = 1, size(numbers)
        read (field(numbers(k)), *) x(k, row)
      end do
      do k = 1, size(words)
        place = place_of(achar(64 + k)//field(words(k)), training)
        if (place > 0) x(place, row) = 1
      end do
    end do
    close (file)
    x(3:4, :row) = log(1 + x(3:4, :row))
    if (training) mean = sum(x(:5, :row), 2)/row
    if (training) deviation = sqrt(sum((x(:5, :row) - spread(mean, 2, row))**2, 2)/row)
    x(:5, :row) = (x(:5, :row) - spread(mean, 2, row))/spread(deviation, 2, row)
    x = x(:, first:row:stride)
    y = y(first:row:stride)
  end subroutine read_rows

  !> The column of a word; 0 for one that is not known and not to be learned.
  integer function place_of(word, learns)
    character(len=*), intent(in) :: word
    logical, intent(in) :: learns
    integer :: used
    used = size(numbers) + count(known /= "")
    place_of = findloc(known, word, 1)
    if (place_of > 0 .or. .not. learns .or. used == width) return
    place_of = used + 1
    known(place_of) = word
  end function place_of

end module adult
