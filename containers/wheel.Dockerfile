# The wheel for every MPI with the tag manylinux_2_28, for one version of Python. From the root of a checkout:
#   docker build -f containers/wheel.Dockerfile --target wheel --output dist .     (or podman build)
#   docker build -f containers/wheel.Dockerfile --target wheel --output dist --build-arg PYTHON=cp312-cp312 .
# What the library needs is built here as static libraries, so that the wheel holds no file of this system.
FROM quay.io/pypa/manylinux_2_28_x86_64 AS build
ARG PYTHON=cp311-cp311
ARG CMAKE="cmake -G Ninja -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DCMAKE_INSTALL_PREFIX=/needs"
ARG CONFIGURE="./configure --prefix=/needs --enable-static --disable-shared --with-pic"
RUN dnf install -y ninja-build zlib-devel && dnf clean all
RUN git clone -q --depth 1 -b 4.6.01 https://github.com/kokkos/kokkos /src/kokkos && \
    $CMAKE -DKokkos_ENABLE_SERIAL=ON -S /src/kokkos -B /src/kokkos/build && \
    cmake --build /src/kokkos/build -t install
RUN git clone -q --depth 1 -b 9.1.0 https://github.com/fmtlib/fmt /src/fmt && \
    $CMAKE -DFMT_TEST=OFF -DFMT_DOC=OFF -S /src/fmt -B /src/fmt/build && cmake --build /src/fmt/build -t install
RUN git clone -q --depth 1 -b v3.11.3 https://github.com/nlohmann/json /src/json && \
    $CMAKE -DJSON_BuildTests=OFF -S /src/json -B /src/json/build && cmake --build /src/json/build -t install
RUN git clone -q --depth 1 -b 1.0.20-RELEASE https://github.com/jedisct1/libsodium /src/sodium && cd /src/sodium && \
    ./autogen.sh -s && $CONFIGURE && make -j "$(nproc)" install
RUN git clone -q --depth 1 -b hwloc-2.11.2 https://github.com/open-mpi/hwloc /src/hwloc && cd /src/hwloc && \
    ./autogen.sh && $CONFIGURE --disable-libxml2 --disable-pci --disable-libudev --disable-opencl --disable-cuda \
      --disable-nvml --disable-rsmi --disable-levelzero --disable-gl --disable-cairo && make -j "$(nproc)" install
COPY . /tutti
RUN CMAKE_PREFIX_PATH=/needs /opt/python/$PYTHON/bin/python /tutti/bindings/python/wheel.py --folder /wheel

FROM scratch AS wheel
COPY --from=build /wheel/dist/ /
